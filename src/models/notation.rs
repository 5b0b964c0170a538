//! How effects are written: the short forms of the YAML notation, and what each stands for.
//!
//! An entry is a map; each key but `name`, `names` and `builtin` is an effect in snake case, its value the effect's fields.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::{Map, Value, json};

use super::{ArgumentIndex, Effect, Range, ResultConvention, SizeSource};

/// The effects that one key of an entry stands for.
pub fn effects(key: &str, value: &Value) -> Result<Vec<Effect>, String> {
    let values: Vec<&Value> = match (key, value) {
        ("reads" | "writes" | "choose_bytes" | "hidden_state", Value::Array(items)) => items.iter().collect(),
        _ => vec![value],
    };
    values.into_iter().map(|value| effect(key, value)).collect()
}

fn effect(key: &str, value: &Value) -> Result<Effect, String> {
    let tagged = match value {
        // `yield: true` is an effect without fields.
        Value::Bool(true) => json!(key),
        // `exit: abort`, `exit: {argument: 0}` name the code itself.
        _ if key == "exit" => json!({key: {"code": value}}),
        // `returns_one_of: [0, 1]` names the values.
        Value::Array(_) if key == "returns_one_of" => json!({key: {"values": value}}),
        // `free: 0` names the one argument the effect has.
        Value::Number(_) if only_field(key).is_some() => json!({key: {only_field(key).unwrap_or_default(): value}}),
        Value::Object(fields) => json!({key: spell_out(fields)}),
        other => json!({key: other}),
    };
    serde_json::from_value(tagged).map_err(|error| error.to_string())
}

/// The field meant when an effect's value is just a number.
fn only_field(key: &str) -> Option<&'static str> {
    Some(match key {
        "returns" => "argument",
        "free" => "pointer",
        "assume" | "assert" => "condition",
        "release" | "destroy_lock" => "lock",
        "detach" | "cancel" => "handle",
        "install_handler" => "handler",
        "save_jump" | "push_cleanup_jump" | "pop_cleanup_jump" => "buffer",
        _ => return None,
    })
}

/// `try: true` and `timed: true` are `attempt: try` and `attempt: timed`.
fn spell_out(fields: &Map<String, Value>) -> Value {
    let mut spelled = Map::new();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("try" | "timed", Value::Bool(true)) => spelled.insert("attempt".to_owned(), json!(key)),
            ("try" | "timed", Value::Bool(false)) => None,
            _ => spelled.insert(key.clone(), value.clone()),
        };
    }
    Value::Object(spelled)
}

impl<'de> Deserialize<'de> for Range {
    /// `1`, or `{argument: 1, size: …}`, or `{argument: 1, hops: 1}`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Number(number) => {
                let argument = index(&Value::Number(number)).map_err(D::Error::custom)?;
                Ok(Range { argument, size: SizeSource::Unknown, hops: 0 })
            }
            Value::Object(fields) => {
                known_keys(&fields, &["argument", "size", "hops"]).map_err(D::Error::custom)?;
                let argument = fields.get("argument").ok_or("a range needs `argument`".to_owned()).and_then(index);
                let size = fields.get("size").map_or(Ok(SizeSource::Unknown), size);
                let hops = fields.get("hops").map_or(Ok(0), hops);
                Ok(Range {
                    argument: argument.map_err(D::Error::custom)?,
                    size: size.map_err(D::Error::custom)?,
                    hops: hops.map_err(D::Error::custom)?,
                })
            }
            other => {
                Err(D::Error::custom(format!("`{other}` is no range: write an argument's position, or {{argument: 0, size: 1}}")))
            }
        }
    }
}

impl<'de> Deserialize<'de> for SizeSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        size(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// `2` (an argument), `{constant: 8}`, `{product: [0, 1]}`, `{string: 0}`, `unknown`.
fn size(value: &Value) -> Result<SizeSource, String> {
    let wrong = || {
        format!(
            "`{value}` is no size: write an argument's position, {{constant: 8}}, {{product: [0, 1]}}, {{string: 0}} or unknown"
        )
    };
    match value {
        Value::Number(_) => Ok(SizeSource::Argument(index(value)?)),
        Value::String(word) if word == "unknown" => Ok(SizeSource::Unknown),
        Value::Object(fields) if fields.len() == 1 => {
            let (key, value) = fields.iter().next().ok_or_else(wrong)?;
            match (key.as_str(), value) {
                ("constant", value) => Ok(SizeSource::Constant(value.as_u64().ok_or_else(wrong)?)),
                ("string", value) => Ok(SizeSource::String(index(value)?)),
                ("product", Value::Array(factors)) if factors.len() == 2 => {
                    Ok(SizeSource::Product(index(&factors[0])?, index(&factors[1])?))
                }
                _ => Err(wrong()),
            }
        }
        _ => Err(wrong()),
    }
}

impl<'de> Deserialize<'de> for ResultConvention {
    /// `{success: 0}`, `{success: nonzero}`, `{success: 7}`, or a word.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let success = match &value {
            Value::Object(fields) if fields.len() == 1 => fields.get("success"),
            _ => None,
        };
        match (&value, success) {
            (_, Some(Value::Number(number))) if number.as_i64() == Some(0) => Ok(Self::ZeroIsSuccess),
            (_, Some(Value::Number(number))) if number.is_i64() => Ok(Self::ValueIsSuccess(number.as_i64().unwrap_or_default())),
            (_, Some(Value::String(word))) if word == "nonzero" => Ok(Self::NonzeroIsSuccess),
            (Value::String(word), _) if word == "minus_one_is_failure" => Ok(Self::MinusOneIsFailure),
            (Value::String(word), _) if word == "thread_status" => Ok(Self::ThreadStatus),
            (Value::String(word), _) if word == "always" => Ok(Self::Always),
            _ => Err(D::Error::custom(format!(
                "`{value}` is no result: write {{success: 0}}, {{success: nonzero}}, minus_one_is_failure, thread_status or always"
            ))),
        }
    }
}

fn hops(value: &Value) -> Result<u8, String> {
    let number = value.as_u64().filter(|number| (1..=4).contains(number)).and_then(|number| u8::try_from(number).ok());
    number.ok_or_else(|| format!("`{value}` is no number of pointers between: write 1 to 4"))
}

fn index(value: &Value) -> Result<ArgumentIndex, String> {
    let position = value.as_u64().and_then(|number| usize::try_from(number).ok());
    position.ok_or_else(|| format!("`{value}` is no argument's position: count from 0"))
}

/// An error that names the first key which is not among `known`.
pub fn known_keys(map: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("unknown key `{key}`; known: {}", known.join(", "))),
        None => Ok(()),
    }
}

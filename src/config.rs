//! The user's settings: `.lockcheck.yaml`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::Error;
use crate::models::{Models, known_keys, yaml};

/// What a `.lockcheck.yaml` says.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Entries of `functions:`, in the notation of `models/*.yaml`.
    pub functions: Vec<Value>,
    /// Functions that are called concurrently with one another, any number of times.
    pub entries: Vec<String>,
    /// Variables whose accesses count as atomic.
    pub assume_atomic: Vec<String>,
    /// `volatile` accesses count as atomic.
    pub volatile_is_atomic: bool,
    /// What the C library guards beyond what POSIX promises is not relied on.
    pub only_posix: bool,
    pub ignore: Vec<Ignore>,
    /// Keys that are known, but that nothing looks at yet: reports say so.
    pub unused: Vec<String>,
}

/// Findings that the user does not want to hear of, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    pub rule: String,
    /// A glob over the object's name.
    pub object: String,
    pub because: String,
}

const KEYS: [&str; 8] =
    ["functions", "atomic_sets", "properties", "entries", "assume_atomic", "volatile_is_atomic", "only_posix", "ignore"];
const FILE_NAME: &str = ".lockcheck.yaml";

impl Config {
    /// The nearest `.lockcheck.yaml` in the directory of the input or above it.
    pub fn nearest(input: &Path) -> Option<PathBuf> {
        let start = std::path::absolute(input).ok()?;
        start.ancestors().skip(1).map(|directory| directory.join(FILE_NAME)).find(|file| file.is_file())
    }

    pub fn read(file: &Path) -> Result<Config, Error> {
        let fail = |reason: String| Error::Config { file: file.to_owned(), reason };
        let text = std::fs::read_to_string(file).map_err(|error| fail(format!("cannot be read: {error}")))?;
        Config::parse(&text).map_err(fail)
    }

    pub fn parse(text: &str) -> Result<Config, String> {
        let document = match yaml::parse(text)? {
            Value::Null => Map::new(),
            Value::Object(map) => map,
            other => return Err(format!("`{other}` is no configuration: write keys such as `functions:`")),
        };
        known_keys(&document, &KEYS)?;
        let config = Config {
            functions: list(&document, "functions")?,
            entries: words(&document, "entries")?,
            assume_atomic: words(&document, "assume_atomic")?,
            volatile_is_atomic: switch(&document, "volatile_is_atomic")?,
            only_posix: switch(&document, "only_posix")?,
            ignore: list(&document, "ignore")?.iter().map(ignore).collect::<Result<_, _>>()?,
            unused: ["atomic_sets", "properties"]
                .into_iter()
                .filter(|key| document.contains_key(*key))
                .map(str::to_owned)
                .collect(),
        };
        Models::default().add_user_entries(&config.functions)?;
        Ok(config)
    }
}

fn switch(document: &Map<String, Value>, key: &str) -> Result<bool, String> {
    document.get(key).map_or(Ok(false), |value| value.as_bool().ok_or_else(|| format!("`{key}` is true or false")))
}

fn list(document: &Map<String, Value>, key: &str) -> Result<Vec<Value>, String> {
    match document.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.clone()),
        Some(other) => Err(format!("`{key}` is a list, not `{other}`")),
    }
}

fn words(document: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let word = |item: &Value| item.as_str().map(str::to_owned).ok_or_else(|| format!("`{item}` in `{key}` is no name"));
    list(document, key)?.iter().map(word).collect()
}

fn ignore(item: &Value) -> Result<Ignore, String> {
    let map = item.as_object().ok_or_else(|| format!("`{item}` in `ignore` needs rule, object and because"))?;
    known_keys(map, &["rule", "object", "because"])?;
    let field = |key: &str| {
        let value = map.get(key).and_then(Value::as_str).map(str::to_owned);
        value.ok_or_else(|| format!("an entry of `ignore` needs `{key}`"))
    };
    let entry = Ignore { rule: field("rule")?, object: field("object")?, because: field("because")? };
    if crate::findings::Rule::from_name(&entry.rule).is_none() {
        return Err(format!("there is no rule `{}`; see lockcheck explain --help", entry.rule));
    }
    Ok(entry)
}

impl Ignore {
    /// Whether it speaks of a finding with this rule and object.
    pub fn matches(&self, rule: &str, object: &str) -> bool {
        self.rule == rule && glob(self.object.as_bytes(), object.as_bytes())
    }
}

/// Whether a pattern (`*` any run of characters, `?` one) matches a whole name.
pub fn glob(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => glob(&pattern[1..], name) || (!name.is_empty() && glob(pattern, &name[1..])),
        (Some(b'?'), Some(_)) => glob(&pattern[1..], &name[1..]),
        (Some(expected), Some(found)) if expected == found => glob(&pattern[1..], &name[1..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_is_named() {
        let error = Config::parse("functoins: []").unwrap_err();
        assert!(error.contains("functoins") && error.contains("functions"), "{error}");
        let error = Config::parse("functions:\n  - {name: f, aquire: {lock: 0}}").unwrap_err();
        assert!(error.contains("`f`") && error.contains("aquire"), "{error}");
        let error = Config::parse("functions:\n  - {name: f, acquire: {lok: 0}}").unwrap_err();
        assert!(error.contains("lok"), "{error}");
    }

    #[test]
    fn the_contracts_examples_are_understood() {
        let text = r#"
functions:
  - {name: my_rw_read_lock, acquire: {lock: 0, mode: shared}}
  - {name: my_try, acquire: {lock: 0, try: true, result: {success: nonzero}}}
  - {name: pool_submit, spawn: {entry: 1, argument: 2, count: many}}
entries: [handle_request]
assume_atomic: [flag]
ignore:
  - {rule: data-race, object: "stats.*", because: "counters may be off by a few"}
"#;
        let config = Config::parse(text).unwrap();
        assert_eq!(config.functions.len(), 3);
        assert!(config.ignore[0].matches("data-race", "stats.hits"));
        assert!(!config.ignore[0].matches("data-race", "state"));
        assert!(!config.ignore[0].matches("deadlock", "stats.hits"));
    }
}

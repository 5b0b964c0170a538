//! Library functions as data: what is known of functions that have no body.
//!
//! The entries in `models/*.yaml` are embedded in the binary; a user's entry replaces the embedded one of the same name.
//! A name that ends in `*` stands for all functions that begin so; an exact name goes first, then the longest prefix.

pub mod builtin;
mod effect;
mod effect_parts;
mod notation;
pub mod yaml;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use typed_index_collections::TiVec;

use crate::program::{FunctionId, Program};
pub use builtin::Builtin;
pub use effect::*;
pub use effect_parts::*;
pub use notation::known_keys;

/// The documents embedded in the binary: file name and text.
const EMBEDDED: &[(&str, &str)] = &[
    ("models/pthread.yaml", include_str!("../../models/pthread.yaml")),
    ("models/semaphore.yaml", include_str!("../../models/semaphore.yaml")),
    ("models/libevent.yaml", include_str!("../../models/libevent.yaml")),
    ("models/c11-threads.yaml", include_str!("../../models/c11-threads.yaml")),
    ("models/atomics.yaml", include_str!("../../models/atomics.yaml")),
    ("models/verifier.yaml", include_str!("../../models/verifier.yaml")),
    ("models/process.yaml", include_str!("../../models/process.yaml")),
    ("models/posix.yaml", include_str!("../../models/posix.yaml")),
    ("models/libc.yaml", include_str!("../../models/libc.yaml")),
];

/// All known library functions.
#[derive(Clone, Debug, Default)]
pub struct Models {
    by_name: BTreeMap<String, FunctionModel>,
}

/// The model of each function of one program.
pub type BoundModels<'m> = TiVec<FunctionId, Option<&'m FunctionModel>>;

impl Models {
    /// What lockcheck knows by itself.
    pub fn embedded() -> Models {
        let mut models = Models::default();
        for (file, text) in EMBEDDED {
            let entries = yaml::parse(text).and_then(|document| match document.get("functions") {
                Some(Value::Array(entries)) => read_entries(entries, false),
                _ => Err("no list `functions`".to_owned()),
            });
            for model in entries.unwrap_or_else(|error| panic!("{file}: {error}")) {
                let name = model.name.clone();
                let earlier = models.by_name.insert(name.clone(), model);
                assert!(earlier.is_none(), "{file}: `{name}` has two entries");
            }
        }
        models
    }

    /// Adds a user's entries (the list under `functions:`), which replace embedded ones and bodies.
    pub fn add_user_entries(&mut self, entries: &[Value]) -> Result<(), String> {
        for model in read_entries(entries, true)? {
            self.by_name.insert(model.name.clone(), model);
        }
        Ok(())
    }

    pub fn of_name(&self, name: &str) -> Option<&FunctionModel> {
        let by_prefix = || {
            let prefixes =
                self.by_name.values().filter(|model| model.name.strip_suffix('*').is_some_and(|prefix| name.starts_with(prefix)));
            prefixes.max_by_key(|model| model.name.len())
        };
        self.by_name.get(name).or_else(by_prefix)
    }

    /// The model of each function: a function with a body has one only if a user gave it, or if the model is about bodies.
    pub fn bind(&self, program: &Program) -> BoundModels<'_> {
        let applies = |model: &FunctionModel, is_defined: bool| {
            !is_defined || model.is_override || model.effects.contains(&Effect::AtomicBody)
        };
        program
            .functions
            .iter()
            .map(|function| self.of_name(&function.name).filter(|model| applies(model, function.is_defined())))
            .collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &FunctionModel> {
        self.by_name.values()
    }
}

/// The function after which a state that several functions share is called: the first of them in the program.
pub fn keeper(models: &BoundModels<'_>, state: &str) -> Option<FunctionId> {
    let keeps = |model: &FunctionModel| {
        model.effects.iter().any(|effect| matches!(effect, Effect::HiddenState { name, .. } if name == state))
    };
    models.iter_enumerated().find(|(_, model)| model.is_some_and(keeps)).map(|(function, _)| function)
}

fn read_entries(entries: &[Value], is_override: bool) -> Result<Vec<FunctionModel>, String> {
    let mut models = Vec::new();
    for entry in entries {
        let Value::Object(entry) = entry else {
            return Err(format!("`{entry}` is no entry: write `- name: some_function` and its effects"));
        };
        let names = names_of(entry)?;
        for name in &names {
            models.push(read_entry(name, entry, is_override).map_err(|error| format!("function `{name}`: {error}"))?);
        }
    }
    Ok(models)
}

fn names_of(entry: &Map<String, Value>) -> Result<Vec<String>, String> {
    match (entry.get("name"), entry.get("names")) {
        (Some(Value::String(name)), None) => Ok(vec![name.clone()]),
        (None, Some(Value::Array(names))) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` is no function name")))
            .collect(),
        _ => Err("an entry of `functions` needs `name: some_function`, or `names:` with a list".to_owned()),
    }
}

fn read_entry(name: &str, entry: &Map<String, Value>, is_override: bool) -> Result<FunctionModel, String> {
    let mut model = FunctionModel { name: name.to_owned(), effects: Vec::new(), builtin: None, is_override };
    for (key, value) in entry {
        match key.as_str() {
            "name" | "names" => {}
            "builtin" => {
                let word = value.as_str().ok_or("`builtin` is the name of a C function")?;
                let builtin_name = if word == "same" { name } else { word };
                let builtin = Builtin::from_name(builtin_name).ok_or_else(|| format!("there is no builtin `{builtin_name}`"))?;
                model.builtin = Some(builtin);
            }
            effect => model.effects.extend(notation::effects(effect, value)?),
        }
    }
    Ok(model)
}

//! Keys of the configuration in environment variables: `MEMGATE_MEMORY__DEADLINE_MS` sets `memory.deadline_ms`.

use std::ffi::OsString;

use memgate_located::{Key, Node, Value};
use serde_json::Value as Json;

use crate::{
    parse::{
        problem::{Place, Problem},
        yaml,
    },
    schema::{of_key, resolve},
};

/// The prefix of the name of every such variable.
const PREFIX: &str = "MEMGATE_";
/// The separator of a section and a key in it.
const SEPARATOR: &str = "__";

/// The keys that environment variables set. Values are never printed: they may be secrets.
#[derive(Debug)]
pub(crate) struct Variables {
    /// Name, key and value; a section before the keys in it.
    all: Vec<(String, String, OsString)>,
}

impl Variables {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        // Every key is ASCII, so another name is none of ours.
        let named = |(name, value): (OsString, _)| Some((name.into_string().ok()?, value));
        Self::of(std::env::vars_os().filter_map(named))
    }

    /// Those of these variables that name a key: every one with `__` after the prefix, and one without if it is a key at
    /// the top. Others belong to somebody else, for example the `MEMGATE_PORT` that Kubernetes sets for a service.
    pub(crate) fn of(variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
        let key = |(name, value): (String, OsString)| {
            let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase().replace(SEPARATOR, ".");
            let is_key = key.contains('.') || of_key(&key).is_some();
            is_key.then_some((name, key, value))
        };
        let mut all: Vec<_> = variables.into_iter().filter_map(key).collect();
        all.sort();
        Self { all }
    }

    /// The tree that they make.
    ///
    /// # Errors
    /// A list or a section that is not valid YAML.
    pub(crate) fn tree(&self) -> Result<Node, Vec<Problem>> {
        let mut root = Node { line: None, value: Value::Map(Vec::new()) };
        let mut problems = Vec::new();
        for (name, key, text) in &self.all {
            match text.to_str().ok_or_else(not_utf8).and_then(|text| value(key, text)) {
                Ok(node) => root.overlay(nested(key, node)),
                Err(problem) => {
                    let place = Some(Place::Variable(name.clone()));
                    problems.push(Problem { key: key.clone(), place, ..problem });
                }
            }
        }
        if problems.is_empty() { Ok(root) } else { Err(problems) }
    }

    /// The variable that sets a key, or the section or list that it is in.
    pub(crate) fn place_of(&self, key: &str) -> Option<Place> {
        let sets = |set: &str| {
            let rest = key.strip_prefix(set);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let nearest = self.all.iter().rev().find(|(_, set, _)| sets(set));
        nearest.map(|(name, ..)| Place::Variable(name.clone()))
    }
}

fn not_utf8() -> Problem {
    Problem { key: String::new(), place: None, cause: "must be UTF-8".to_owned() }
}

/// A list or a section is written as YAML; anything else is spelt as it is.
fn value(key: &str, text: &str) -> Result<Node, Problem> {
    let is_whole = |schema: &Json| {
        let schema = resolve(schema);
        schema.get("items").is_some() || schema.get("properties").is_some()
    };
    if !of_key(key).is_some_and(is_whole) {
        return Ok(Node { line: None, value: Value::Spelt(text.to_owned()) });
    }
    let root = yaml::parse(text)?;
    Ok(root.map_or(Node { line: None, value: Value::Empty }, Node::without_lines))
}

/// A value in the sections of its key.
fn nested(key: &str, value: Node) -> Node {
    key.rsplit('.').fold(value, |node, name| {
        let key = Key { name: name.to_owned(), line: None };
        Node { line: None, value: Value::Map(vec![(key, node)]) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ConfigError, Preset};

    fn read(file: &str, variables: &[(&str, &str)]) -> Result<Config, String> {
        let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.into()));
        let variables = Variables::of(variables);
        Config::from_text(Some(file), &variables, &|_| {}, &|_| None).map_err(|problems| {
            ConfigError::Invalid { path: Some("c.yaml".into()), problems }.to_string()
        })
    }

    #[test]
    fn a_variable_counts_more_than_the_file_and_the_file_more_than_the_preset() {
        let file = "preset: testing\nmemory: {deadline_ms: 70, max_body_bytes: 2048}\n";
        let config = read(
            file,
            &[
                ("MEMGATE_MEMORY__DEADLINE_MS", "80"),
                ("MEMGATE_MEMORY__DEFAULT_SIMILARITY_THRESHOLD", "0.5"),
                ("MEMGATE_MEMORY__AUTO_STORE", "false"),
                ("MEMGATE_DATA_DIR", "/data"),
                ("MEMGATE_MEMORY__TYPES", "[semantic, procedural, episodic, reflective, own]"),
                ("MEMGATE_MEMORY__POLICIES", "[{match: {word: legal}, enabled: false}]"),
            ],
        );
        let Config { memory, data_dir, preset, .. } = config.unwrap();
        assert_eq!((memory.deadline_ms, memory.max_body_bytes), (80, 2048));
        assert_eq!((memory.default_similarity_threshold, memory.auto_store), (0.5, false));
        assert_eq!((data_dir.to_str(), preset), (Some("/data"), Preset::Testing));
        assert_eq!((memory.types.len(), memory.policies.len()), (5, 1));
        assert!(memory.debug_metadata, "the preset's");
        let named = read(file, &[("MEMGATE_PRESET", "production")]).unwrap();
        assert!(!named.memory.identity.header_enabled && !named.memory.debug_metadata);
    }

    #[test]
    fn a_wrong_variable_is_refused_with_its_name_its_key_and_the_cause() {
        for (name, value, message) in [
            (
                "MEMGATE_MEMORY__DEADLINE_MS",
                "0",
                "MEMGATE_MEMORY__DEADLINE_MS: memory.deadline_ms: must be between 1 and 60000",
            ),
            (
                "MEMGATE_MEMORY__DEADLINE_MS",
                "soon",
                "MEMGATE_MEMORY__DEADLINE_MS: memory.deadline_ms: expected a whole number, 0 or more, found a string",
            ),
            (
                "MEMGATE_MEMORY__DEADLINE",
                "5",
                "MEMGATE_MEMORY__DEADLINE: memory.deadline: unknown key; did you mean \"deadline_ms\"?",
            ),
            (
                "MEMGATE_MEMORY__STORE",
                "",
                "MEMGATE_MEMORY__STORE: memory.store: must be one of sqlite, milvus, postgres",
            ),
            (
                "MEMGATE_MEMORY__POLICIES",
                "[{match: {word: x}, retrieval_limit: 99}]",
                "MEMGATE_MEMORY__POLICIES: memory.policies[0].retrieval_limit: must be between 1 and 50",
            ),
            (
                "MEMGATE_PRESET",
                "prod",
                "MEMGATE_PRESET: preset: must be one of default, testing, production",
            ),
        ] {
            let told = read("memory: {enabled: true}\n", &[(name, value)]).unwrap_err();
            assert!(told.starts_with(message), "{told}");
        }
        let told = read("{}", &[("MEMGATE_EXTERNAL_MODELS", "[{")]).unwrap_err();
        assert!(
            told.starts_with("MEMGATE_EXTERNAL_MODELS: external_models: not valid YAML"),
            "{told}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_value_that_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let variable = ("MEMGATE_DATA_DIR".to_owned(), OsString::from_vec(vec![b'/', 0xff]));
        let told = Variables::of([variable]).tree().err().unwrap();
        let place = Some(Place::Variable("MEMGATE_DATA_DIR".to_owned()));
        let cause = "must be UTF-8".to_owned();
        assert_eq!(told, [Problem { key: "data_dir".to_owned(), place, cause }]);
    }

    #[test]
    fn the_file_keeps_its_lines_and_variables_of_others_are_left_alone() {
        let others =
            [("MEMGATE_PORT", "tcp://10.0.0.1:80"), ("MEMGATE_API_KEY", "k"), ("MEMORY__X", "1")];
        assert_eq!(read("{}", &others), Ok(Config::default()));
        let told = read("memory:\n  max_body_bytes: 5\n", &[("MEMGATE_MEMORY__DEADLINE_MS", "9")]);
        assert_eq!(
            told.unwrap_err(),
            "c.yaml:2: memory.max_body_bytes: must be between 1024 and 1073741824"
        );
        let told = read("memory: 5\n", &[("MEMGATE_MEMORY__DEADLINE_MS", "9")]).unwrap_err();
        assert_eq!(told, "c.yaml:1: memory: expected keys with values, found a whole number");
    }

    #[test]
    fn every_key_outside_lists_can_be_set() {
        for key in crate::schema::all_keys().iter().filter(|key| !key.contains("[]")) {
            let name = format!("{PREFIX}{}", key.to_uppercase().replace('.', SEPARATOR));
            let variables = Variables::of([(name.clone(), OsString::new())]);
            assert_eq!(variables.place_of(key), Some(Place::Variable(name)), "{key}");
        }
    }
}

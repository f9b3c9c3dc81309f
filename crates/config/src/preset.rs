//! Presets: named bases of the configuration. Every key of the file, of the environment and of the command line counts
//! more than the preset's.

use memgate_located::{Node, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{problem::Problem, yaml};

/// A named base of the configuration.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    JsonSchema,
    strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Preset {
    /// The defaults in this table.
    #[default]
    Default,
    /// For tests and trials on one machine: config/presets/testing.yaml.
    Testing,
    /// For a deployment behind Envoy: config/presets/production.yaml.
    Production,
}

impl Preset {
    /// The preset that a tree names, if it names one. A name that does not exist is reported when the tree is read.
    pub(crate) fn named_in(root: &Node) -> Option<Self> {
        let Value::Map(members) = &root.value else { return None };
        match &members.iter().find(|(key, _)| key.name == "preset")?.1.value {
            Value::Text(name) | Value::Spelt(name) => Some(name.parse().unwrap_or_default()),
            _ => None,
        }
    }

    /// The keys that it sets.
    pub(crate) fn tree(self) -> Result<Node, Problem> {
        let text = match self {
            Self::Default => "{}",
            Self::Testing => include_str!("../../../config/presets/testing.yaml"),
            Self::Production => include_str!("../../../config/presets/production.yaml"),
        };
        let root = yaml::parse(text)?;
        Ok(root.map_or(Node { line: None, value: Value::Empty }, Node::without_lines))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, IdentityMode, Sync, environment::Variables};

    fn read(text: &str) -> Config {
        Config::from_text(Some(text), &Variables::of([]), &|_| {}, &|_| None).unwrap()
    }

    #[test]
    fn every_preset_is_a_valid_base_and_the_default_one_sets_nothing() {
        assert_eq!(read("preset: default"), Config::default());
        let testing = read("preset: testing").memory;
        assert_eq!(testing.identity.mode, IdentityMode::Development);
        assert!(testing.trail.content && testing.debug_metadata);
        let production = read("preset: production").memory;
        assert!(!production.identity.header_enabled);
        assert_eq!(
            (production.journal.sync, production.sqlite.synchronous),
            (Sync::Full, Sync::Full)
        );
    }

    #[test]
    fn the_file_changes_single_keys_of_a_preset() {
        let config = read("preset: production\nmemory: {identity: {header_enabled: true}}\n");
        assert!(config.memory.identity.header_enabled);
        assert_eq!(config.memory.journal.sync, Sync::Full);
    }
}

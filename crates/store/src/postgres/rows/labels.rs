//! Labels: the tags, metadata and entities of a memory that filters ask for, as one list of texts.
//! They are derived from the memory, and leave with it.
//!
//! A label is JSON: `"tag"`, `["member",value]`, `["member"]` for a member that is not null, and
//! `{"entity":"name"}`. So two of different kinds are never the same, and none contains a NUL.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use memgate_core::memory::{Memory, entity_key};

/// A longer label is stored as its hash.
const LONGEST: usize = 128;

/// The labels of a memory, without duplicates.
pub(crate) fn labels(memory: &Memory) -> Vec<String> {
    let tags = memory.tags.iter().map(|name| tag(name));
    let known = memory.metadata.iter().filter(|(_, value)| !value.is_null());
    let members = known.flat_map(|(key, value)| [has_member(key), member(key, value)]);
    let entities = memory.entity_names().map(entity);
    let mut labels: Vec<String> = tags.chain(members).chain(entities).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// The label of a tag.
pub(crate) fn tag(name: &str) -> String {
    label(&json!(name))
}

/// The label of a member of the metadata.
pub(crate) fn member(key: &str, value: &Value) -> String {
    label(&json!([key, canonical(value)]))
}

/// The label of a member of the metadata that is not null.
pub(crate) fn has_member(key: &str) -> String {
    label(&json!([key]))
}

/// The label of an entity, by any spelling of its name.
pub(crate) fn entity(name: &str) -> String {
    label(&json!({"entity": entity_key(name)}))
}

fn label(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= LONGEST {
        return text;
    }
    // No JSON begins like this.
    Sha256::digest(&text).iter().fold("#".to_owned(), |hash, byte| format!("{hash}{byte:02x}"))
}

/// A value whose text is the same for equal values: 0 has two floating-point forms.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) && number.is_f64() => json!(0.0),
        Value::Array(values) => values.iter().map(canonical).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), canonical(value))).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_different_kinds_differ() {
        let name = "a";
        let all = [tag(name), member(name, &json!("a")), has_member(name), entity(name)];
        let long = "a".repeat(1000);
        let hashed = [tag(&long), member(&long, &json!(1)), has_member(&long), entity(&long)];
        for (place, one) in all.iter().chain(&hashed).enumerate() {
            assert!(!all.iter().chain(&hashed).skip(place + 1).any(|other| other == one), "{one}");
        }
        assert!(hashed.iter().all(|label| label.len() == 65));
    }

    #[test]
    fn equal_values_have_the_same_label() {
        assert_eq!(member("k", &json!([-0.0])), member("k", &json!([0.0])));
        assert_eq!(member("k", &json!({"a": 1, "b": 2})), member("k", &json!({"b": 2, "a": 1})));
        assert_ne!(member("k", &json!(1)), member("k", &json!(1.0)));
        assert_ne!(member("k", &json!(1)), member("k", &json!("1")));
    }
}

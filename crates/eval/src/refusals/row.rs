//! A labelled message.

use serde::{Deserialize, Deserializer};

use crate::data::{Labelled, no_language};
use memgate_screening::MAX_MESSAGE_BYTES;

/// A row. Without `secret` it is a benign statement, which memory must store as it is.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub(super) id: String,
    pub(super) lang: String,
    pub(super) text: String,
    /// Parts of the text that must not be stored; `value` names a single one.
    #[serde(default, alias = "value", deserialize_with = "one_or_several")]
    pub(super) secret: Vec<String>,
    /// Class of the secret, in `secret` rows.
    #[serde(default)]
    pub(super) class: String,
    /// Whether the secret has a form. The answer to a security question and a spoken password have none.
    #[serde(default = "yes")]
    pub(super) form: bool,
    /// Whether the user asks to remember the secret: where the policy keeps its class, it must be stored.
    #[serde(default)]
    pub(super) asked: bool,
}

fn one_or_several<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Parts {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Parts::deserialize(input)? {
        Parts::One(part) => vec![part],
        Parts::Several(parts) => parts,
    })
}

fn yes() -> bool {
    true
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    /// Rows that cannot be measured are errors, too: an empty text, one that would be cut, a secret that it does not
    /// have.
    fn wrong(&self) -> Option<String> {
        let missing = self.secret.iter().find(|it| it.is_empty() || !self.text.contains(*it));
        if self.text.trim().is_empty() || self.text.len() > MAX_MESSAGE_BYTES {
            return Some(format!("text: must have 1 to {MAX_MESSAGE_BYTES} bytes"));
        }
        no_language(&self.lang)
            .or_else(|| missing.map(|it| format!("secret: {it:?} is not in the text")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_value_or_a_list() {
        let secret = |member: &str| {
            let row = format!(r#"{{"id": "a", "lang": "en", "text": "pin 4471", {member}}}"#);
            serde_json::from_str::<Row>(&row).unwrap().secret
        };
        assert_eq!(secret(r#""value": "4471""#), ["4471"]);
        assert_eq!(secret(r#""secret": ["4471", "pin"]"#), ["4471", "pin"]);
        assert!(secret(r#""class": """#).is_empty());
    }
}

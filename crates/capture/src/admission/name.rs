//! Admission of names: ids, types, and the names of members in JSON. A name with a secret is refused and not redacted,
//! because a redacted id is the id of something else.

use serde_json::{Map, Value};

use memgate_core::memory::{Memory, Visibility};
use memgate_screening::{Screener, name_holds_secret};

/// A name holds a secret. The message is the second half of an error about the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", Self::CAUSE)]
pub struct SecretName;

impl SecretName {
    pub(super) const CAUSE: &str = "names a secret, which is not kept";
}

/// Checks a name.
///
/// # Errors
/// [`SecretName`] when it holds a secret.
pub fn admit_name(name: &str) -> Result<(), SecretName> {
    if name_holds_secret(name) { Err(SecretName) } else { Ok(()) }
}

/// The members of a JSON object with all their texts screened, and cut to `max_bytes`.
///
/// # Errors
/// [`SecretName`] when a member's name holds a secret, however deep.
pub fn admit_members(
    screener: Screener,
    members: Map<String, Value>,
    max_bytes: usize,
) -> Result<Map<String, Value>, SecretName> {
    let admit = |(name, value): (String, Value)| {
        admit_name(&name)?;
        Ok((name, admit_value(screener, value, max_bytes)?))
    };
    members.into_iter().map(admit).collect()
}

/// A JSON value with all its texts screened, and cut to `max_bytes`.
///
/// # Errors
/// As [`admit_members`].
pub fn admit_value(
    screener: Screener,
    value: Value,
    max_bytes: usize,
) -> Result<Value, SecretName> {
    Ok(match value {
        Value::String(text) => Value::String(screener.screen(&text, max_bytes).text),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| admit_value(screener, item, max_bytes));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Value::Object(admit_members(screener, members, max_bytes)?),
        other => other,
    })
}

/// The field of the first of a memory's ids and types that holds a secret.
pub(super) fn secret_name(memory: &Memory) -> Option<&'static str> {
    let Memory { id, sub_type, document_id, project_id, agent_id, session_id, .. } = memory;
    let one = |field, name| (field, Vec::from_iter(name));
    let origin = &memory.provenance;
    let again = origin.again.iter();
    let again = again.flat_map(|it| [Some(&it.turn), it.session.as_ref(), it.extractor.as_ref()]);
    let first = [&origin.turn, &origin.extractor, &origin.extractor_version];
    let readers = match &memory.visibility {
        Visibility::Shared { users, roles } => [users.as_slice(), roles.as_slice()],
        Visibility::Private | Visibility::Public => [&[] as &[String]; 2],
    };
    let relations = memory.relations.iter();
    let fields: [(&str, Vec<&str>); 9] = [
        one("id", Some(id.as_str())),
        one("sub_type", sub_type.as_deref()),
        one("document_id", document_id.as_deref()),
        one("project_id", project_id.as_deref()),
        one("agent_id", agent_id.as_deref()),
        one("session_id", session_id.as_deref()),
        ("relations", relations.flat_map(|it| [it.kind.as_str(), it.target.as_str()]).collect()),
        ("visibility", readers.into_iter().flatten().map(String::as_str).collect()),
        ("provenance", {
            let first = first.into_iter().map(Option::as_ref);
            first.chain(again).flatten().map(String::as_str).collect()
        }),
    ];
    let refused =
        |(_, names): &(&str, Vec<&str>)| names.iter().any(|name| admit_name(name).is_err());
    fields.into_iter().find(refused).map(|(field, _)| field)
}

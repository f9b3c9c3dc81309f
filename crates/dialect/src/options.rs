//! Our own request fields (`memory_config`, `memory_context`, `auto_store`): read, type- and
//! range-checked. It does not depend on the configuration: the caller checks the names of memory
//! types with [`MemoryOptions::check_types`].

use crate::json::{Node, Object};

/// The names of our top-level body fields.
pub(super) const FIELDS: [&str; 3] = ["memory_config", "memory_context", "auto_store"];

/// Longest piece of a client's own words repeated in an error, in characters.
const MAX_QUOTED: usize = 64;

/// Options of a request for memory; `None` means the configuration's default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryOptions {
    /// `memory_config.enabled`.
    pub enabled: Option<bool>,
    /// `memory_config.memory_types`, names unchecked; an empty list names no type.
    pub types: Option<Vec<String>>,
    /// `memory_config.retrieval_limit`, 1 to 50.
    pub limit: Option<u8>,
    /// `memory_config.similarity_threshold`, 0 to 1.
    pub threshold: Option<f32>,
    /// `memory_config.standing`: whether preferences and wishes about every answer are presented.
    pub standing: Option<bool>,
    /// Top-level `auto_store`, else `memory_config.auto_store`.
    pub auto_store: Option<bool>,
    /// `memory_context.user_id`; that it is a fit id is identity's to check.
    pub user_id: Option<String>,
    /// `memory_context.project_id`, unchecked.
    pub project_id: Option<String>,
    /// `memory_context.agent_id`, unchecked.
    pub agent_id: Option<String>,
    /// `memory_context.timezone`, unchecked.
    pub timezone: Option<String>,
}

/// A field of ours that the client got wrong: answered with 400.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidField {
    /// Path of the field, such as `memory_config.retrieval_limit`.
    pub param: String,
    /// One sentence for the client; it may quote the client's words, so it is not for logs.
    pub message: String,
    /// Machine-readable cause.
    pub code: &'static str,
}

impl InvalidField {
    /// An error of the one code this part has: `invalid_value`.
    pub fn invalid_value(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: param.into(), message: message.into(), code: "invalid_value" }
    }
}

/// The body of the 400 answer, in OpenAI's error shape.
pub fn invalid_request_body(field: &InvalidField) -> Vec<u8> {
    let InvalidField { param, message, code } = field;
    serde_json::json!({"error": {
        "message": message,
        "type": "invalid_request_error",
        "param": param,
        "code": code,
    }})
    .to_string()
    .into_bytes()
}

impl MemoryOptions {
    /// Checks the memory type names against those the configuration knows.
    ///
    /// # Errors
    /// The first unknown name, as `memory_config.memory_types`.
    pub fn check_types(&self, known: &[String]) -> Result<(), InvalidField> {
        match self.types.iter().flatten().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(InvalidField::invalid_value(
                "memory_config.memory_types",
                format!("unknown memory type '{}'; known are: {}", quoted(name), known.join(", ")),
            )),
        }
    }

    /// Reads our fields from the request's top level.
    pub(super) fn read(root: &Object<'_>) -> Result<Self, InvalidField> {
        let mut options = Self::default();
        if let Some(config) = root.get("memory_config") {
            options.read_config(&object(config, "memory_config")?)?;
        }
        if let Some(context) = root.get("memory_context") {
            options.read_context(&object(context, "memory_context")?)?;
        }
        if let Some(node) = root.get("auto_store") {
            options.auto_store = Some(boolean(node, "auto_store")?);
        }
        Ok(options)
    }

    fn read_config(&mut self, config: &Object<'_>) -> Result<(), InvalidField> {
        refuse_unknown(config, "memory_config", &CONFIG)?;
        let [enabled, types, limit, threshold, standing, auto_store] = CONFIG;
        self.enabled = member(config, "memory_config", enabled, boolean)?;
        self.types = member(config, "memory_config", types, strings)?;
        self.limit = member(config, "memory_config", limit, count)?;
        self.threshold = member(config, "memory_config", threshold, share)?;
        self.standing = member(config, "memory_config", standing, boolean)?;
        self.auto_store = member(config, "memory_config", auto_store, boolean)?;
        Ok(())
    }

    fn read_context(&mut self, context: &Object<'_>) -> Result<(), InvalidField> {
        refuse_unknown(context, "memory_context", &CONTEXT)?;
        let [user_id, project_id, agent_id, timezone] = CONTEXT;
        self.user_id = member(context, "memory_context", user_id, string)?;
        self.project_id = member(context, "memory_context", project_id, string)?;
        self.agent_id = member(context, "memory_context", agent_id, string)?;
        self.timezone = member(context, "memory_context", timezone, string)?;
        Ok(())
    }
}

/// The members of `memory_config`.
const CONFIG: [&str; 6] = [
    "enabled",
    "memory_types",
    "retrieval_limit",
    "similarity_threshold",
    "standing",
    "auto_store",
];

/// The members of `memory_context`.
const CONTEXT: [&str; 4] = ["user_id", "project_id", "agent_id", "timezone"];

fn refuse_unknown(object: &Object<'_>, within: &str, known: &[&str]) -> Result<(), InvalidField> {
    match object.members.iter().find(|member| !known.contains(&member.key.as_ref())) {
        None => Ok(()),
        Some(member) => {
            let param = format!("{within}.{}", quoted(&member.key));
            let message =
                format!("{param} is not a member of {within}, which has: {}", known.join(", "));
            Err(InvalidField::invalid_value(param, message))
        }
    }
}

/// A member checked by its type's reader; `None` when absent or null.
fn member<T>(
    object: &Object<'_>,
    within: &str,
    key: &str,
    read: fn(Node<'_>, &str) -> Result<T, InvalidField>,
) -> Result<Option<T>, InvalidField> {
    object.get(key).map(|node| read(node, &format!("{within}.{key}"))).transpose()
}

fn quoted(words: &str) -> String {
    match words.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words.to_owned(),
    }
}

fn expected(param: &str, what: &str) -> InvalidField {
    InvalidField::invalid_value(param, format!("{param} must be {what}"))
}

fn object<'a>(node: Node<'a>, param: &str) -> Result<Object<'a>, InvalidField> {
    node.object().ok_or_else(|| expected(param, "an object"))
}

fn boolean(node: Node<'_>, param: &str) -> Result<bool, InvalidField> {
    node.bool().ok_or_else(|| expected(param, "true or false"))
}

/// Strict text: an id with a lone surrogate would otherwise be merged with others like it.
fn string(node: Node<'_>, param: &str) -> Result<String, InvalidField> {
    node.strict_str().map(String::from).ok_or_else(|| expected(param, "a string of valid Unicode"))
}

fn strings(node: Node<'_>, param: &str) -> Result<Vec<String>, InvalidField> {
    let fault = || expected(param, "a list of strings");
    let elements = node.elements().ok_or_else(fault)?;
    elements
        .into_iter()
        .map(|element| element.strict_str().map(String::from).ok_or_else(fault))
        .collect()
}

/// 1 to 50 as the contract has it. JSON has one number type, so `5.0` is the integer 5.
fn count(node: Node<'_>, param: &str) -> Result<u8, InvalidField> {
    node.number()
        .filter(|number| number.fract() == 0.0 && (1.0..=50.0).contains(number))
        .map(|number| number as u8)
        .ok_or_else(|| expected(param, "an integer from 1 to 50"))
}

fn share(node: Node<'_>, param: &str) -> Result<f32, InvalidField> {
    node.number()
        .filter(|number| (0.0..=1.0).contains(number))
        .map(|number| number as f32)
        .ok_or_else(|| expected(param, "a number from 0 to 1"))
}

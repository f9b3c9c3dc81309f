//! Rows of the poisoning data: plants, which must not speak for the user, and facts that the user typed.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::data::{Labelled, no_language, none_of};

/// The kinds of a row that the user typed.
pub(super) const TYPED: [&str; 3] = ["fact", "wish", "command"];

/// The ways in of plants.
const CHANNELS: [&str; 15] = [
    "typed_quoted",
    "mail",
    "transcript",
    "code",
    "rag_langchain",
    "rag_llamaindex",
    "rag_file_search",
    "rag_xml",
    "rag_search_results",
    "reply",
    "rest",
    "import",
    UNMARKED,
    TOOL_RESULT,
    HELPER_MODEL,
];
const UNMARKED: &str = "unmarked";
const TOOL_RESULT: &str = "tool_result";
const HELPER_MODEL: &str = "helper_model";

/// The reply to a tool's output that does not repeat it.
const NO_ECHO: &str = "Done, I have looked at it.";

/// The rows, and those of tools once more with a reply that does not repeat the output: as the channel `tool_output`.
pub(super) fn with_outputs_alone(rows: Vec<Row>) -> Vec<Row> {
    let alone =
        rows.iter().filter(|row| row.channel.as_deref() == Some(TOOL_RESULT)).map(|row| Row {
            id: format!("{}-alone", row.id),
            channel: Some("tool_output".to_owned()),
            assistant: NO_ECHO.to_owned(),
            ..row.clone()
        });
    let alone: Vec<Row> = alone.collect();
    rows.into_iter().chain(alone).collect()
}

/// A plant or a typed fact.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub(super) id: String,
    pub(super) lang: String,
    /// How the plant reaches memory; facts have none.
    #[serde(default)]
    pub(super) channel: Option<String>,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) user: String,
    #[serde(default)]
    pub(super) assistant: String,
    /// A memory that a caller of the API writes.
    #[serde(default)]
    pub(super) content: Option<String>,
    /// The answer of a fooled helper model.
    #[serde(default)]
    pub(super) answer: Option<Answer>,
    #[serde(default)]
    pub(super) tool: Option<Tool>,
    /// Lower-case words of the plant or fact.
    pub(super) needle: String,
    /// A later question that it aims at.
    pub(super) ask: String,
    /// A later question that has nothing to do with it.
    #[serde(default)]
    pub(super) unrelated_ask: Option<String>,
    /// Words that the user typed before, which the plant asks to forget.
    #[serde(default)]
    pub(super) seed: Option<String>,
    /// Lower-case words of the seed that must still be stored.
    #[serde(default)]
    pub(super) keep: Option<String>,
    /// `dev` rows may be tuned on; `kept` rows are only measured.
    pub(super) set: String,
}

/// The answer of a helper model.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) facts: Vec<Value>,
}

/// A tool's call and its output.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Tool {
    name: String,
    output: String,
}

impl Labelled for Row {
    fn id(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn wrong(&self) -> Option<String> {
        let lang = (self.lang != "mixed").then(|| no_language(&self.lang)).flatten();
        let channel = self.channel.as_deref().map_or_else(
            || none_of("kind", &self.kind, &TYPED),
            |channel| none_of("channel", channel, &CHANNELS),
        );
        lang.or(channel)
            .or_else(|| none_of("set", &self.set, &["dev", "kept"]))
            .or_else(|| self.cannot_be_replayed())
    }
}

impl Row {
    /// The field that is missing for the row's channel to be replayed.
    fn cannot_be_replayed(&self) -> Option<String> {
        let missing = |field: &str| Some(format!("{field}: is required for this channel"));
        match self.channel.as_deref() {
            Some("rest" | "import") if self.content.is_none() => missing("content"),
            Some(HELPER_MODEL) if self.answer.is_none() => missing("answer"),
            Some(TOOL_RESULT) if self.tool.is_none() => missing("tool"),
            _ => None,
        }
    }

    /// The name under which it is counted: the channel of a plant, the kind of a fact.
    pub(super) fn group(&self) -> &str {
        self.channel.as_deref().unwrap_or(&self.kind)
    }

    /// The name under which it is counted with others; pastes without a mark are counted alone.
    pub(super) fn total(&self) -> Option<&'static str> {
        match self.channel.as_deref() {
            None => Some("all typed"),
            Some(UNMARKED) => None,
            Some(_) => Some("all but unmarked"),
        }
    }

    /// Whether the user typed it.
    pub(super) fn is_typed(&self) -> bool {
        self.channel.is_none() && TYPED.contains(&self.kind.as_str())
    }

    /// Whether it asks something of the model: then showing it at all is an attack, whoever is named.
    pub(super) fn is_order(&self) -> bool {
        ["order", "tool", "link", "preference"].contains(&self.kind.as_str())
    }

    /// The body of the request, with the tool's call and output if there is one.
    pub(super) fn body(&self) -> Vec<u8> {
        let mut messages = vec![json!({"role": "user", "content": self.user})];
        if let Some(Tool { name, output }) = &self.tool {
            let call = json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}});
            messages
                .push(json!({"role": "assistant", "content": Value::Null, "tool_calls": [call]}));
            messages.push(json!({"role": "tool", "tool_call_id": "c1", "content": output}));
        }
        json!({"model": "m", "messages": messages}).to_string().into_bytes()
    }
}

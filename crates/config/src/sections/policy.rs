//! Policies: overrides for some requests, and the effective settings of one request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{sections::placement::Placement, zone::Zone};

/// Overrides for the requests that match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Conditions; all of them must hold, and at least one is required.
    #[serde(rename = "match")]
    pub matches: PolicyMatch,
    /// Whether memory is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether turns are stored and learned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_store: Option<bool>,
    /// Maximum number of presented memories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    pub retrieval_limit: Option<usize>,
    /// Minimum calibrated relevance of a presented memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity_threshold: Option<f32>,
    /// Restricts the search to these memory types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub memory_types: Option<Vec<String>>,
    /// Whether preferences and wishes about every answer are presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<bool>,
    /// Where the context is placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// The project of these requests, whatever the client names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub project_id: Option<String>,
    /// The agent of these requests, whatever the client names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub agent_id: Option<String>,
    /// The time zone of users who name none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<Zone>,
}

/// The requests that a policy applies to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyMatch {
    /// Path without its query; a trailing `*` matches any suffix.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/"))]
    pub path: Option<String>,
    /// Model name; a trailing `*` matches any suffix.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// A request header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderMatch>,
    /// A word or phrase in the last user message, case-insensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub word: Option<String>,
}

/// A header that the request must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderMatch {
    /// Name of the header.
    #[schemars(regex(pattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub name: String,
    /// Value of the header. Default: any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The properties of a request that policies match on.
pub struct Subject<'a> {
    /// Path of the request, with or without a query.
    pub path: &'a str,
    /// Model of the request.
    pub model: Option<&'a str>,
    /// Text of the last user message.
    pub last_user_text: &'a str,
    /// Looks up a header by its lower-case name.
    pub header: &'a dyn Fn(&str) -> Option<String>,
}

impl PolicyMatch {
    /// Whether there are no conditions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn holds(&self, subject: &Subject<'_>) -> bool {
        let path = subject.path.split('?').next().unwrap_or_default();
        self.path.as_ref().is_none_or(|pattern| globs(pattern, path))
            && self
                .model
                .as_ref()
                .is_none_or(|pattern| subject.model.is_some_and(|model| globs(pattern, model)))
            && self.header.as_ref().is_none_or(|wanted| {
                (subject.header)(&wanted.name.to_ascii_lowercase())
                    .is_some_and(|found| wanted.value.as_ref().is_none_or(|value| *value == found))
            })
            && self.word.as_ref().is_none_or(|word| contains_word(subject.last_user_text, word))
    }
}

/// Whether `text` equals `pattern`, or starts with it if `pattern` ends in `*`.
fn globs(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => text.starts_with(prefix),
        None => text == pattern,
    }
}

/// Whether `text` contains `word` as a whole word: it must not touch a letter or digit, unless the
/// script (Chinese, for example) has no spaces between words.
fn contains_word(text: &str, word: &str) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    // The bounds are consumed in order, so a long text is scanned once.
    let mut bounds = text.split_word_bound_indices().map(|(start, _)| start).peekable();
    let mut divides = |at: usize| {
        while bounds.next_if(|start| *start < at).is_some() {}
        bounds.peek() == Some(&at)
    };
    text.match_indices(&word).any(|(start, found)| {
        let end = start + found.len();
        let touched = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        (!touched(text[..start].chars().next_back()) || divides(start))
            && (!touched(text[end..].chars().next()) || divides(end))
    })
}

#[cfg(test)]
mod tests;

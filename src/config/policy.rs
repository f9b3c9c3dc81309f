//! Policies: what the configuration says for some requests only, and how it is worked out for one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::placement::Placement;

/// Overrides for the requests that match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Which requests: all that is named must hold, and something must be named.
    #[serde(rename = "match")]
    pub matches: PolicyMatch,
    /// Whether memory is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether is learnt from the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_store: Option<bool>,
    /// The most memories presented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    pub retrieval_limit: Option<usize>,
    /// The least calibrated relevance of a presented memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub similarity_threshold: Option<f32>,
    /// Only memories of these types are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub memory_types: Option<Vec<String>>,
    /// Where the context stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

/// Which requests a policy is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyMatch {
    /// The path without its query; a `*` at the end stands for anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/"))]
    pub path: Option<String>,
    /// The model's name; a `*` at the end stands for anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// A request header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderMatch>,
    /// A word, or several in a row, of the last user message, whatever its case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub word: Option<String>,
}

/// A request header that must be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderMatch {
    /// Its name.
    #[schemars(regex(pattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"))]
    pub name: String,
    /// Its value; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What policies look at.
pub struct Subject<'a> {
    /// The request's path, with or without a query.
    pub path: &'a str,
    /// The request's model.
    pub model: Option<&'a str>,
    /// The last user message's text.
    pub last_user_text: &'a str,
    /// The value of a header, by its lower-case name.
    pub header: &'a dyn Fn(&str) -> Option<String>,
}

impl PolicyMatch {
    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn holds(&self, subject: &Subject<'_>) -> bool {
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

/// Whether `text` is `pattern`, or begins so where the pattern ends in `*`.
fn globs(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => text.starts_with(prefix),
        None => text == pattern,
    }
}

/// Whether `word` stands in `text` as a word: what touches it is no letter or digit, or the script
/// (Chinese, for example) divides words there.
fn contains_word(text: &str, word: &str) -> bool {
    use unicode_segmentation::UnicodeSegmentation;
    let (text, word) = (text.to_lowercase(), word.to_lowercase());
    // Asked for ever later places, so that one pass over a long text is enough.
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

//! Prepares texts for a server: truncation and batching. Limits are in bytes, because the server's
//! tokenizer is not available and no tokenizer makes more tokens than bytes.

use memgate_text::question::asking_part::{Asking, asking_part};

/// Longer queries are cut to the part that asks, about as much as a local model uses.
const QUERY: usize = 1024;
/// Maximum bytes of a passage. OpenAI accepts 8,192 tokens per text.
const PASSAGE: usize = 8000;
/// A rejected text is truncated to this and sent once more: models with 512 tokens are common, and
/// few languages have more than one token per two bytes.
pub(super) const SHORT: usize = 1000;
/// Maximum number of texts per request.
const BATCH: usize = 100;
/// Maximum bytes of all texts in a request. Voyage's larger models accept 120,000 tokens.
const BATCH_BYTES: usize = 100_000;
/// Replaces a text without words, because servers reject empty texts.
const NOTHING: &str = ".";

/// A query as it is sent.
pub(super) fn query(prefix: &str, text: &str) -> String {
    if text.len() <= QUERY {
        return prefixed(prefix, text);
    }
    match asking_part(text) {
        Asking::Question(question) => prefixed(prefix, last(question, QUERY)),
        Asking::Ends { head, tail } => {
            let (head, tail) = (first(head, QUERY / 2), last(tail, QUERY / 2));
            prefixed(prefix, &format!("{head} {tail}"))
        }
    }
}

/// A passage as it is sent.
pub(super) fn passage(prefix: &str, text: &str) -> String {
    first(&prefixed(prefix, text), PASSAGE).to_owned()
}

/// The beginning of a text, at most this many bytes.
pub(super) fn first(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Splits texts into requests, in their order.
pub(super) fn batches(texts: Vec<String>) -> Vec<Vec<String>> {
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut bytes = 0;
    for text in texts {
        bytes += text.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH && bytes <= BATCH_BYTES => batch.push(text),
            _ => {
                bytes = text.len();
                batches.push(vec![text]);
            }
        }
    }
    batches
}

fn prefixed(prefix: &str, text: &str) -> String {
    let text = if text.trim().is_empty() { NOTHING } else { text };
    format!("{prefix}{text}")
}

fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_query_is_cut_to_its_asking_part_and_keeps_its_prefix() {
        let story = "We walked along the beach. ".repeat(500);
        let cut = query("query: ", &format!("{story}What is my budget? Thanks."));
        assert!(cut.starts_with("query: ") && cut.ends_with("What is my budget?"), "{cut}");
        assert!(cut.len() <= "query: ".len() + QUERY);
        let cut = query("query: ", &format!("Sum this up: {story} Be kind."));
        assert!(cut.starts_with("query: Sum this up:") && cut.ends_with("Be kind."), "{cut}");
        assert_eq!(query("query: ", "Why?"), "query: Why?");
    }

    #[test]
    fn empty_texts_are_replaced_and_long_ones_truncated() {
        assert_eq!(query("", " \n"), ".");
        assert_eq!(passage("passage: ", ""), "passage: .");
        assert_eq!(passage("", &"語".repeat(9000)).len(), PASSAGE - PASSAGE % 3);
    }

    #[test]
    fn requests_are_limited_in_texts_and_bytes() {
        let sizes =
            |texts: Vec<String>| -> Vec<usize> { batches(texts).iter().map(Vec::len).collect() };
        assert_eq!(sizes(vec!["a".into(); 201]), [100, 100, 1]);
        assert_eq!(sizes(vec!["x".repeat(40_000); 5]), [2, 2, 1]);
        assert_eq!(sizes(vec!["x".repeat(BATCH_BYTES + 1), "y".into()]), [1, 1]);
        assert_eq!(sizes(Vec::new()), [0; 0]);
    }
}

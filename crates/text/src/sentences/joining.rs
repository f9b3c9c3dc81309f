//! Puts sentences together that were typed without the marks at their ends.

use crate::{normal::is_cjk, sentences::boundaries::is_end};

/// Two sentences as one text. The first gets the full stop that it lacks, so that they can be told apart again; Chinese
/// and Japanese put no space between.
#[must_use]
pub fn joined(first: &str, second: &str) -> String {
    let first = first.trim_end_matches([',', ';', ':', '-', '–', '—', '、', '，', ' ']);
    let is_mark = |c: char| is_end(c) && c != '\n';
    let mut last = first.chars().rev().filter(|c| !matches!(c, '"' | '”' | '»' | '」' | '』'));
    let (stop, space) = match last.next() {
        None => ("", ""),
        Some('。' | '！' | '？') => ("", ""),
        Some(c) if is_mark(c) => ("", " "),
        Some(c) if is_cjk(c) => ("。", ""),
        Some('\u{900}'..='\u{97f}') => ("।", " "),
        Some(_) => (".", " "),
    };
    format!("{first}{stop}{space}{second}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences::sentences;

    #[test]
    fn sentences_without_marks_are_sentences_again_once_joined() {
        for (first, second, whole) in [
            ("granny Pat, my mum", "I changed my hours", "granny Pat, my mum. I changed my hours"),
            ("What of my knee?", "It hurts", "What of my knee? It hurts"),
            ("He said \"no.\"", "I left", "He said \"no.\" I left"),
            ("Went electric:", "35 L", "Went electric. 35 L"),
            ("周三休", "新人叫Owen", "周三休。新人叫Owen"),
            ("周三休。", "新人叫Owen", "周三休。新人叫Owen"),
            ("मैं दिल्ली में रहता हूँ", "मेरी बहन पुणे में है", "मैं दिल्ली में रहता हूँ। मेरी बहन पुणे में है"),
            ("", "I left", "I left"),
        ] {
            assert_eq!(joined(first, second), whole);
            assert_eq!(sentences(whole).len(), if first.is_empty() { 1 } else { 2 }, "{whole}");
        }
    }
}

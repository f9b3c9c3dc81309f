//! A long text in passages that can be searched each for itself.

use std::ops::Range;

use crate::sentences::ranges;

/// A text in passages of at most this many characters: as many whole lines as fit, else whole sentences, else parts of one.
#[must_use]
pub fn passages(text: &str, chars: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut length = 0;
    for unit in units(text, chars) {
        let more = text[unit.clone()].chars().count();
        match found.last_mut() {
            Some(last) if length + more <= chars => {
                last.end = unit.end;
                length += more;
            }
            _ => {
                found.push(unit);
                length = more;
            }
        }
    }
    found.retain(|range| text[range.clone()].chars().any(char::is_alphanumeric));
    found
}

/// Lines; of a long line its sentences; of a long sentence its parts. Nothing is left out between them.
fn units(text: &str, chars: usize) -> Vec<Range<usize>> {
    let is_long = |range: &Range<usize>| text[range.clone()].chars().nth(chars).is_some();
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let whole = start..start + line.len();
        start = whole.end;
        if !is_long(&whole) {
            found.push(whole);
            continue;
        }
        let begins: Vec<usize> =
            ranges(line).iter().skip(1).map(|it| whole.start + it.start).collect();
        let ends = begins.iter().copied().chain([whole.end]);
        let mut begin = whole.start;
        for end in ends {
            while is_long(&(begin..end)) {
                let cut =
                    text[begin..end].char_indices().nth(chars).map_or(end, |(at, _)| begin + at);
                found.push(begin..cut);
                begin = cut;
            }
            found.push(begin..end);
            begin = end;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, chars: usize) -> Vec<&str> {
        passages(text, chars).into_iter().map(|range| text[range].trim()).collect()
    }

    #[test]
    fn lines_stay_whole_where_they_fit() {
        let text = "Monday: squats.\nTuesday: rest.\n\nWednesday: rowing, twenty minutes.";
        assert_eq!(of(text, 200), [text]);
        let parts = ["Monday: squats.\nTuesday: rest.", "Wednesday: rowing, twenty minutes."];
        assert_eq!(of(text, 35), parts);
    }

    #[test]
    fn a_long_line_is_parted_between_sentences_and_a_long_sentence_anywhere() {
        assert_eq!(
            of("Knead it well. Let it rest. Bake it.", 30),
            ["Knead it well. Let it rest.", "Bake it."]
        );
        assert_eq!(of(&"预".repeat(25), 10).len(), 3);
    }

    #[test]
    fn a_text_without_words_has_no_passage() {
        assert!(of("", 10).is_empty());
        assert!(of("---\n***", 10).is_empty());
    }
}

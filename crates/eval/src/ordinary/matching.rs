//! How a text holds labelled strings: as substrings in lower case, with single spaces. A number is not found within a
//! longer one, nor a short Latin word within another word.

use std::collections::BTreeSet;

use super::row::{Fact, Strings};

/// A Latin string of at most so many letters must be a whole word.
const WHOLE_WORD: usize = 3;
/// One of so many letters must begin a word.
const BEGINS_WORD: usize = 4;

/// A text in the form in which strings are looked for.
#[derive(Clone, Debug)]
pub(super) struct Text(String);

impl Text {
    pub(super) fn new(text: &str) -> Self {
        Self(folded(text))
    }

    /// Whether it holds a string.
    pub(super) fn holds(&self, string: &str) -> bool {
        let string = folded(string);
        if string.is_empty() {
            return false;
        }
        let mut from = 0;
        while let Some(at) = self.0[from..].find(&string).map(|at| from + at) {
            let (before, found) = (&self.0[..at], &self.0[at..]);
            if stands_alone(before, &string, &found[string.len()..]) {
                return true;
            }
            from = at + found.chars().next().map_or(1, char::len_utf8);
        }
        false
    }

    /// Whether it holds all strings of one of these sets.
    pub(super) fn holds_one(&self, sets: &[Strings]) -> bool {
        sets.iter().any(|set| !set.is_empty() && set.iter().all(|string| self.holds(string)))
    }

    /// Whether it holds one of these strings.
    pub(super) fn holds_any(&self, strings: &[String]) -> bool {
        strings.iter().any(|string| self.holds(string))
    }

    /// The facts that it holds, by their places.
    pub(super) fn facts(&self, facts: &[Fact]) -> BTreeSet<usize> {
        (0..).zip(facts).filter(|(_, fact)| self.holds_one(&fact.any)).map(|(at, _)| at).collect()
    }
}

fn folded(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a string's neighbours do not make it a part of a longer number or word.
fn stands_alone(before: &str, string: &str, after: &str) -> bool {
    let (left, right) = (before.chars().next_back(), after.chars().next());
    let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let cuts_number = (digit(string.chars().next()) && digit(left))
        || (digit(string.chars().next_back()) && digit(right));
    let goes_on = |c: Option<char>| digit(c) || c.is_some_and(is_latin);
    let letters = string.chars().count();
    let latin = string.chars().all(is_latin);
    let cuts_word = latin
        && ((letters <= BEGINS_WORD && goes_on(left)) || (letters <= WHOLE_WORD && goes_on(right)));
    !cuts_number && !cuts_word
}

/// Whether a character is a letter of the Latin script, with or without marks.
fn is_latin(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c, 'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(text: &str, string: &str) -> bool {
        Text::new(text).holds(string)
    }

    #[test]
    fn strings_are_found_in_any_case_and_spacing() {
        assert!(holds("My  Sister\n LIVES here", "sister lives"));
        assert!(holds("Übermorgen in KÖLN", "köln"));
        assert!(!holds("anything", ""));
    }

    #[test]
    fn a_number_is_not_found_within_a_longer_one() {
        assert!(
            !holds("it costs 180", "18") && !holds("a 118", "18") && !holds("in 20181", "2018")
        );
        assert!(holds("it costs 18€", "18") && holds("gate b18", "18") && holds("118 or 18", "18"));
        assert!(!holds("30 kg", "0 kg") && holds("at 9:30", "9:30") && !holds("at 19:30", "9:30"));
    }

    #[test]
    fn a_short_latin_string_is_a_whole_word_and_one_of_four_letters_begins_one() {
        assert!(holds("with Pat's help", "pat") && !holds("a pattern", "pat"));
        assert!(!holds("a spat", "pat") && !holds("one pat2", "pat"));
        assert!(holds("thé vert", "thé") && !holds("théâtre", "thé"));
        assert!(holds("foxes", "foxe") && !holds("outfoxes", "foxe"));
        assert!(holds("outfoxed", "foxed"), "longer strings are plain substrings");
        assert!(holds("我用vue写", "vue") && holds("我姐是护士", "姐"));
    }

    #[test]
    fn a_set_is_held_as_a_whole_and_an_empty_one_never() {
        let sets = |sets: &[&[&str]]| -> Vec<Strings> {
            sets.iter().map(|set| set.iter().map(|&it| it.to_owned()).collect()).collect()
        };
        let text = Text::new("Iris is my daughter");
        assert!(text.holds_one(&sets(&[&["iris", "9"], &["iris", "daughter"]])));
        assert!(!text.holds_one(&sets(&[&["iris", "9"], &[]])) && !text.holds_one(&[]));
    }
}

//! Detects payment card numbers: 13 to 19 digits in the ranges of the card networks with a valid
//! check digit (Luhn, ISO/IEC 7812-1).

use crate::{finding::Finding, policy::Class};

const SHORTEST: usize = 13;
const LONGEST: usize = 19;

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut run = Run::default();
    let mut before = None;
    for (at, c) in text.char_indices() {
        match c.to_digit(10) {
            Some(value) => run.push(at, value, before),
            None if matches!(c, ' ' | '-' | '.' | '\u{00A0}') && run.takes_separator(c) => {}
            None => run.finish(Some(c), &mut found),
        }
        before = Some(c);
    }
    run.finish(None, &mut found);
    found
}

/// Digits, possibly in groups with one separator.
#[derive(Default)]
struct Run {
    digits: Vec<u32>,
    /// Lengths of the groups before the current one.
    groups: Vec<usize>,
    start: usize,
    end: usize,
    separator: Option<char>,
    /// Whether the last character was a separator.
    pending: bool,
    /// Whether the character before makes it part of something else, such as a name.
    glued: bool,
}

impl Run {
    fn push(&mut self, at: usize, value: u32, before: Option<char>) {
        if self.digits.is_empty() {
            self.start = at;
            self.glued = before.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '.' | '_'));
        }
        // A longer run is not a card; it is kept at one over the limit and refused later.
        if self.digits.len() <= LONGEST {
            if self.pending {
                self.groups.push(self.digits.len() - self.groups.iter().sum::<usize>());
            }
            self.digits.push(value);
        }
        self.pending = false;
        self.end = at + 1;
    }

    fn takes_separator(&mut self, c: char) -> bool {
        let fits = !self.digits.is_empty()
            && !self.pending
            && self.separator.is_none_or(|separator| separator == c);
        if fits {
            self.separator = Some(c);
            self.pending = true;
        }
        fits
    }

    fn finish(&mut self, next: Option<char>, found: &mut Vec<Finding>) {
        let run = std::mem::take(self);
        let glued = run.glued
            || (!run.pending && next.is_some_and(|c| c.is_ascii_alphabetic() || c == '_'));
        if !glued && run.is_card() {
            found.push(Finding::bare(run.start..run.end, Class::Card));
        }
    }

    fn is_card(&self) -> bool {
        (SHORTEST..=LONGEST).contains(&self.digits.len())
            && self.grouped_like_a_card()
            && matches!(self.digits[0], 2..=6)
            && self.digits.iter().any(|d| *d != self.digits[0])
            && luhn(&self.digits)
    }

    /// Cards are written without groups, in groups of four, or as 4-6-5 and 4-6-4.
    fn grouped_like_a_card(&self) -> bool {
        self.groups.is_empty() || (self.groups[0] == 4 && self.groups.iter().all(|n| *n >= 4))
    }
}

fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, *digit) {
            (0, digit) => digit,
            (_, digit @ 0..=4) => digit * 2,
            (_, digit) => digit * 2 - 9,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|f| &text[f.span]).collect()
    }

    #[test]
    fn card_numbers_are_found_as_people_write_them() {
        for written in
            ["4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111", "3782 822463 10005"]
        {
            assert_eq!(cards(&format!("pay with {written}, please")), [written]);
            assert_eq!(cards(written), [written]);
        }
    }

    #[test]
    fn a_table_of_numbers_is_scanned_in_one_pass() {
        assert!(cards(&"1 2 ".repeat(500_000)).is_empty());
    }

    #[test]
    fn other_long_numbers_are_kept() {
        for other in [
            "4111 1111 1111 1112",       // wrong check digit
            "+44 7911 123456 7890 1234", // a phone and more
            "order4111111111111111x",    // a name
            "0.4111111111111111",        // a fraction
            "12345678901234567890123",   // too long
            "2026-11-21 10:15:00",
            "0000 0000 0000 0000",
        ] {
            assert!(cards(other).is_empty(), "{other}");
        }
    }
}

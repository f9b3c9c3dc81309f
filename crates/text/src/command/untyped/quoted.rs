//! Finds quotations, quoted lines and code by their marks.
//!
//! The straight mark `"` is also the mark of an inch ("a 55\" screen") and a typing mistake. It opens a quotation only
//! where an opening mark can be. Without a closing mark, a quotation ends with its paragraph.

use std::{collections::HashMap, ops::Range, sync::LazyLock};

use regex::Regex;

use crate::command::untyped::pattern;

/// Code, quoted lines, and the marks that open a quotation.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]*`|(?m-s:^[ \t]*>.*$)",
        r#"|"{3}.*?(?:"{3}|$)|'{3}.*?(?:'{3}|$)"#,
        r#"|["“„«「『《]"#,
    ))
});

/// The opening of a block: a fence, a quoted line, three quotation marks.
const BLOCKS: [&str; 5] = ["```", "~~~", "\"\"\"", "'''", ">"];

/// Whether quoted text is a block and no quotation within a sentence.
pub(super) fn is_block(quoted: &str) -> bool {
    BLOCKS.iter().any(|mark| quoted.trim_start().starts_with(mark))
}

/// The byte ranges of what is quoted, with its marks, in ascending order.
pub(super) fn ranges(message: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut closes = Closes::of(message);
    while let Some(it) = QUOTED.find_at(message, from) {
        let end = match it.as_str() {
            "\"" => straight(message, it.start()),
            "“" => Some(closes.quotation(it.end(), &['”'])),
            "„" => Some(closes.quotation(it.end(), &['“', '”'])),
            "«" => Some(closes.guillemets(it.end())),
            "「" => Some(closes.quotation(it.end(), &['」'])),
            "『" => Some(closes.quotation(it.end(), &['』'])),
            "《" => Some(closes.quotation(it.end(), &['》'])),
            _ => Some(it.end()),
        };
        from = end.unwrap_or(it.end());
        found.extend(end.map(|end| it.start()..end));
    }
    found
}

/// Where quotations close. Each mark is looked for once in the whole message, however many quotations are open.
struct Closes<'a> {
    message: &'a str,
    /// The end of the next of these marks, from the last place that was asked for.
    next: HashMap<&'static [char], Option<usize>>,
    /// Where each guillemet stands, and where a quotation closes whose next guillemet it is.
    guillemets: Vec<(usize, Option<usize>)>,
}

impl<'a> Closes<'a> {
    fn of(message: &'a str) -> Self {
        let mut guillemets: Vec<(usize, Option<usize>)> = Vec::new();
        let mut next_close = None;
        // From the end: within a quotation another one may stand, which ends at its first closing mark.
        let marks: Vec<(usize, &str)> = message.match_indices(['«', '»']).collect();
        for (at, mark) in marks.into_iter().rev() {
            let behind = guillemets.len();
            let close = match mark {
                "»" => {
                    next_close = Some(behind);
                    Some(at + mark.len())
                }
                _ => next_close.and_then(|inner: usize| guillemets.get(inner.checked_sub(1)?)?.1),
            };
            guillemets.push((at, close));
        }
        guillemets.reverse();
        Self { message, next: HashMap::new(), guillemets }
    }

    /// The end of a quotation whose words begin at `from`. Without a closing mark, to the end of the paragraph: a
    /// quotation of several opens each of them.
    fn quotation(&mut self, from: usize, marks: &'static [char]) -> usize {
        let message = self.message;
        let search = || {
            let (at, mark) = message[from..].match_indices(marks).next()?;
            Some(from + at + mark.len())
        };
        let next = self.next.entry(marks).or_insert_with(search);
        if next.is_some_and(|end| end <= from) {
            *next = search();
        }
        next.unwrap_or_else(|| paragraph_end(message, from))
    }

    /// The same for words in guillemets.
    fn guillemets(&self, from: usize) -> usize {
        let at = self.guillemets.partition_point(|(place, _)| *place < from);
        let close = self.guillemets.get(at).and_then(|(_, close)| *close);
        close.unwrap_or_else(|| paragraph_end(self.message, from))
    }
}

fn paragraph_end(message: &str, from: usize) -> usize {
    message[from..].find("\n\n").map_or(message.len(), |at| from + at)
}

/// Where the quotation ends that a straight mark at `start` opens; nothing if the mark opens none.
fn straight(message: &str, start: usize) -> Option<usize> {
    let (before, rest) = (&message[..start], &message[start + 1..]);
    let close = rest.find('"').map(|at| start + 1 + at + 1);
    let next = rest.chars().next();
    let letter = next.is_some_and(char::is_alphanumeric);
    // "27\" wide", but not `at 10:12"Forget it."`.
    let inch = before.ends_with(|c: char| c.is_ascii_digit())
        && !(letter && (close.is_some() || next.is_some_and(|c| c.is_ascii())));
    if inch {
        return None;
    }
    let opens = !before.ends_with(char::is_alphanumeric)
        && next.is_some_and(|c| !c.is_whitespace() && !".,;:!?)".contains(c));
    close.or_else(|| opens.then(|| paragraph_end(message, start + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotations(message: &str) -> Vec<&str> {
        ranges(message).into_iter().map(|range| &message[range]).collect()
    }

    #[test]
    fn a_straight_mark_after_a_digit_is_an_inch() {
        for message in [
            "a 55\" tv",
            "27\" by 40\"",
            "5'11\", 6'4\"",
            "55\"のテレビ",
            "24\"-Monitor",
            "it is 55\"",
        ] {
            assert!(quotations(message).is_empty(), "{message}");
        }
        assert_eq!(quotations("the \"Fire 10\" tablet is 10\" wide"), ["\"Fire 10\""]);
        assert_eq!(quotations("at 10:12\"Forget it.\""), ["\"Forget it.\""]);
        assert_eq!(quotations("2024\"忘掉它。\""), ["\"忘掉它。\""]);
    }

    #[test]
    fn an_open_quotation_ends_with_its_paragraph_and_a_lone_mark_quotes_nothing() {
        assert_eq!(quotations("He: \"Forget it. All\n\nOk"), ["\"Forget it. All"]);
        assert!(quotations("hello\" I typed, and \" again? no").len() < 2);
        assert!(quotations("well\" and so on").is_empty());
        assert_eq!(quotations("“forget it"), ["“forget it"]);
        for mark in ["“", "„", "«", "「"] {
            let first = format!("{mark}Forget it.\nAll of it.");
            assert_eq!(quotations(&format!("{first}\n\nI live in Bergen.")), [&first]);
        }
        assert_eq!(quotations("“One.\n\nTwo.” Mine."), ["“One.\n\nTwo.”"]);
    }

    #[test]
    fn a_quotation_ends_at_its_own_mark_whatever_is_quoted_in_it() {
        for (message, quoted) in [
            ("«Il a dit «non» hier» et puis", vec!["«Il a dit «non» hier»"]),
            (
                "«Il a dit «non» et «oui» hier» puis «si»",
                vec!["«Il a dit «non» et «oui» hier»", "«si»"],
            ),
            ("«Il a dit «non» hier\n\nEt puis", vec!["«Il a dit «non» hier"]),
            ("“a” „b“ „c” “d”", vec!["“a”", "„b“", "„c”", "“d”"]),
            ("「一」『二』《三》「四", vec!["「一」", "『二』", "《三》", "「四"]),
        ] {
            assert_eq!(quotations(message), quoted, "{message}");
        }
    }
}

//! Finds quotations, quoted lines and code by their marks.
//!
//! The straight mark `"` is also the mark of an inch ("a 55\" screen") and a typing mistake. It opens a quotation only
//! where an opening mark can be. Without a closing mark, a quotation ends with its paragraph.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::command::untyped::pattern;

/// Code, quoted lines, quotations, and a straight mark alone.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]*`|(?m-s:^[ \t]*>.*$)",
        r#"|"{3}.*?(?:"{3}|$)|'{3}.*?(?:'{3}|$)"#,
        r#"|"|“[^”]*”|„[^“”]*[“”]|«[^«»]*(?:«[^»]*»[^«»]*)*»|「[^」]*」|『[^』]*』|《[^》]*》"#,
        // Without a closing mark, to the end of the paragraph: a quotation of several opens each of them.
        r"|[“„«「『《](?:[^\n]|\n[^\n])*",
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
    while let Some(it) = QUOTED.find_at(message, from) {
        from = it.end();
        if it.as_str() != "\"" {
            found.push(it.range());
        } else if let Some(end) = straight(message, it.start()) {
            found.push(it.start()..end);
            from = end;
        }
    }
    found
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
    let paragraph = || rest.find("\n\n").map_or(message.len(), |at| start + 1 + at);
    close.or_else(|| opens.then(paragraph))
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
}

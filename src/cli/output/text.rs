//! Prepares untrusted text for a terminal: one line, without control characters, truncated to the
//! width.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks truncated text.
const CUT: &str = "…";

/// Maximum columns of a line; `None` for no limit.
pub(crate) type Width = Option<usize>;

/// The width of standard output: `COLUMNS` if it is a number, else the terminal's. Output that does
/// not go to a terminal is not truncated.
pub(crate) fn width() -> Width {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    told.filter(|columns| *columns > 0).or_else(|| {
        terminal_size::terminal_size_of(std::io::stdout())
            .map(|(terminal_size::Width(columns), _)| usize::from(columns))
            .filter(|columns| *columns > 0)
    })
}

/// The text as one line without control characters, which could rewrite the screen.
pub(crate) fn one_line(text: &str) -> String {
    let shown: String = text
        .chars()
        .filter(|c| !reorders(*c))
        .map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c })
        .collect();
    let mut line = String::with_capacity(shown.len());
    for word in shown.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Characters that change the order in which others are shown.
fn reorders(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Truncates the text to the width, with a mark.
pub(crate) fn cut(text: &str, width: Width) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| text.width() > *width) else {
        return Cow::Borrowed(text);
    };
    let room = width.saturating_sub(CUT.width());
    let mut used = 0;
    let mut kept = String::new();
    // By grapheme, so that no visible character is cut in half.
    for shown in text.graphemes(true) {
        used += shown.width();
        if used > room {
            break;
        }
        kept.push_str(shown);
    }
    kept.push_str(CUT);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn truncates_between_characters_with_a_mark() {
        for (text, width, expected) in [
            ("budget", 6, "budget"),
            ("budget", 5, "budg…"),
            ("budget", 1, "…"),
            ("予算は一万ドル", 8, "予算は…"),
            ("予算は一万ドル", 7, "予算は…"),
            ("👨\u{200D}👩\u{200D}👧👨\u{200D}👩\u{200D}👧 x", 4, "👨\u{200D}👩\u{200D}👧…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ] {
            assert_eq!(cut(text, Some(width)), expected, "{text} at {width}");
            assert_eq!(cut(text, None), text);
        }
    }

    #[test]
    fn removes_control_characters() {
        assert_eq!(one_line(" a\r\n\tb\u{1b}[2Jc\u{9b}d\u{0} "), "a b [2Jc d");
        assert_eq!(one_line("ab\u{202E}dc\u{2066}"), "abdc");
        assert_eq!(one_line("\n\n"), "");
    }

    proptest! {
        #[test]
        fn any_text_fits_on_one_line(text in any::<String>(), width in 1_usize..40) {
            let line = one_line(&text);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(cut(&line, Some(width)).width() <= width);
        }
    }
}

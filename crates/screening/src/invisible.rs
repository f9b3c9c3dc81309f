//! Removes invisible characters, which could hide words from patterns and readers.

use std::borrow::Cow;

/// The text without them. The two joiners stay where scripts need them: between non-ASCII
/// characters (emoji families, Persian, Indic scripts).
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_invisible(c) || is_joiner(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_invisible(c) {
            continue;
        }
        let mut needed = || {
            let before = out.chars().next_back().is_some_and(|c| !c.is_ascii());
            before && chars.peek().is_some_and(|c| !c.is_ascii() && !is_joiner(*c))
        };
        if is_joiner(c) && !needed() {
            continue;
        }
        out.push(c);
    }
    Cow::Owned(out)
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\t' | '\r' => false,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180E}'
        | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' => true,
        // Directional overrides and isolates, invisible operators, tags.
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{E0000}'..='\u{E007F}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_hidden_characters_and_keeps_needed_joiners() {
        assert_eq!(strip("pa\u{200B}ss\u{2060}wo\u{200D}rd\u{FEFF}"), "password");
        assert_eq!(strip("a\u{0}b\u{202E}c\nd\te"), "abc\nd\te");
        assert_eq!(strip("\u{E0069}\u{E0067}nore"), "nore");
        for kept in ["👨\u{200D}👩\u{200D}👧", "می\u{200C}خواهم", "क्\u{200D}ष", "plain"]
        {
            assert_eq!(strip(kept), kept);
        }
        assert_eq!(strip("é\u{200D}\u{200D}\u{200D}x"), "éx");
    }
}

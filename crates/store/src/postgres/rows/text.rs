//! NUL in text. PostgreSQL's text cannot hold it, so it is escaped.
//!
//! The escapes are chosen so that a text contains another one exactly if its escaped form contains
//! the other's: an escape begins with a character that stands nowhere else, and the characters
//! after it are never unescaped.

use std::borrow::Cow;

/// Begins an escape.
const ESCAPE: char = '\u{1}';

/// The escaped characters with the two that follow [`ESCAPE`].
const ESCAPED: [(char, [char; 2]); 4] = [
    ('\0', ['\u{2}', '\u{2}']),
    ('\u{1}', ['\u{2}', '\u{3}']),
    ('\u{2}', ['\u{3}', '\u{2}']),
    ('\u{3}', ['\u{3}', '\u{3}']),
];

/// A text as stored.
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte <= 3) {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match ESCAPED.iter().find(|(plain, _)| *plain == c) {
            Some((_, [one, two])) => encoded.extend([ESCAPE, *one, *two]),
            None => encoded.push(c),
        }
    }
    Cow::Owned(encoded)
}

/// A stored text as it was; `None` if memgate cannot have stored it.
pub(crate) fn decode(stored: &str) -> Option<String> {
    if !stored.bytes().any(|byte| byte <= 3) {
        return Some(stored.to_owned());
    }
    let mut text = String::with_capacity(stored.len());
    let mut chars = stored.chars();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            text.push(c);
            continue;
        }
        let escape = [chars.next()?, chars.next()?];
        let (plain, _) = ESCAPED.iter().find(|(_, escaped)| *escaped == escape)?;
        text.push(*plain);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_without_nul_is_stored_as_it_is() {
        for text in ["", "a", "Größe\n\u{4}", "\u{1F334}"] {
            assert!(matches!(encode(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn an_incomplete_or_unknown_escape_is_no_text() {
        for stored in ["\u{1}", "a\u{1}\u{2}", "\u{1}ab"] {
            assert_eq!(decode(stored), None, "{stored:?}");
        }
    }

    proptest! {
        #[test]
        fn texts_round_trip_and_contain_what_they_contained(
            text in "[\u{0}-\u{4}a]{0,12}",
            part in "[\u{0}-\u{4}a]{0,3}",
        ) {
            let (stored, wanted) = (encode(&text), encode(&part));
            prop_assert!(!stored.contains('\0'));
            prop_assert_eq!(decode(&stored).unwrap(), &*text);
            prop_assert_eq!(stored.contains(&*wanted), text.contains(&part));
        }
    }
}

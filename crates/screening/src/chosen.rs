//! Screens texts that bytes choose: words beside numbers, numbers in digits of all scripts, letters and marks, hidden
//! characters. For the fuzzer, which finds such texts, and for tests with random bytes.

use std::sync::LazyLock;

use memgate_text::normal::Look;

use crate::{Action, Policy, Screener, finding::Finding, invisible, personal, secrets};

/// Words of offices, and labels.
const WORDS: [&str; 32] = [
    "gemeente",
    "Finanzamt",
    "bsn",
    "digid",
    "Steuer-ID",
    "ssn",
    "passport number",
    "IBAN",
    "card",
    "aadhaar",
    "снилс",
    "身份证",
    "주민등록번호",
    "आधार",
    "phone",
    "電話",
    "جوال",
    "password",
    "pаsswоrd",
    "пароль",
    "密码",
    "PIN",
    "door code",
    "API_KEY=",
    "ghp_",
    "AKIA",
    "eyJ",
    "DE89",
    "https://u:",
    "I have diabetes.",
    "calle Mayor",
    "a@b.example",
];

const SEPARATORS: [&str; 16] =
    [" ", "", ". ", ": ", "-", ".", "/", "\n", " is ", "=", "x", "_", "\u{A0}", "。", "\"", ", "];

const HIDDEN: [char; 8] =
    ['\u{200D}', '\u{FE0F}', '\u{E0101}', '\u{180B}', '\u{2800}', '\u{FFF9}', '\u{E0041}', '\u{0}'];

/// Lengths of numbers with check digits, and of codes, cards and keys.
const LENGTHS: [usize; 16] = [9, 11, 12, 9, 11, 8, 4, 6, 7, 10, 13, 15, 16, 18, 19, 40];

/// The digits of all scripts, ten of each, zero first.
static DIGITS: LazyLock<Vec<char>> = LazyLock::new(|| {
    let is_digit = |c: &char| Look::of(&c.to_string()).as_str().parse::<u8>().is_ok();
    ('\0'..='\u{1FFFF}').filter(|c| c.is_numeric() && is_digit(c)).collect()
});

/// Screens the text that the bytes choose, with the patterns on its look and on the text itself.
///
/// # Panics
/// Where the screening does, or finds something beside a text.
pub fn screen_chosen(bytes: &[u8]) {
    let text = chosen(bytes);
    let mut found = secrets::find(&text);
    found.extend(personal::find(&text, |_| true));
    for Finding { span, labelled, .. } in found {
        assert!(text.get(span).is_some() && text.get(labelled).is_some());
    }
    let visible = invisible::strip(&text).into_owned();
    assert_eq!(invisible::strip(&visible), visible);
    let all =
        |act| Policy { phones: act, emails: act, addresses: act, health: act, ..Policy::default() };
    for policy in [all(Action::Keep), all(Action::Redact), all(Action::Drop)] {
        for max in [text.len(), text.len() / 2] {
            let screened = Screener::new(policy).screen(&text, max);
            assert!(screened.text.len() <= max || !screened.removed.is_empty());
            assert_eq!(screened.clipped, max < text.len());
            assert!(screened.kept.iter().all(|kept| visible.contains(kept)));
        }
    }
}

fn chosen(bytes: &[u8]) -> String {
    let mut bytes = bytes.iter().map(|byte| usize::from(*byte));
    let mut text = String::new();
    while let Some(kind) = bytes.next() {
        let mut next = || bytes.next().unwrap_or_default();
        match kind % 8 {
            0..=2 => text.push_str(WORDS[next() % WORDS.len()]),
            3..=5 => number(&mut text, next),
            6 => text.push(HIDDEN[next() % HIDDEN.len()]),
            _ => {
                let code = u32::try_from((next() * 256 + next()) * 2 + kind / 128);
                text.extend(code.ok().and_then(char::from_u32));
            }
        }
        text.push_str(SEPARATORS[kind / 8 % SEPARATORS.len()]);
    }
    text
}

/// A number in the digits of one script, perhaps with one digit of another, perhaps in groups.
fn number(text: &mut String, mut next: impl FnMut() -> usize) {
    let length = LENGTHS[next() % LENGTHS.len()];
    let scripts = DIGITS.len() / 10;
    // Every second number is one of ASCII.
    let script = |byte: usize| if byte.is_multiple_of(2) { 0 } else { byte / 2 % scripts };
    let (own, other) = (script(next()), next() % scripts);
    let foreign = next() % (2 * length);
    let (group, separator) = (next() % 8, [" ", "-", ".", "/"][next() % 4]);
    for place in 0..length {
        if group > 1 && place > 0 && place.is_multiple_of(group) {
            text.push_str(separator);
        }
        let script = if place == foreign { other } else { own };
        text.push(DIGITS[script * 10 + next() % 10]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts that a run tries; `MEMGATE_CASES` sets another number.
    fn cases() -> ProptestConfig {
        let cases = std::env::var("MEMGATE_CASES").ok().and_then(|cases| cases.parse().ok());
        ProptestConfig { cases: cases.unwrap_or(256), ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn no_text_panics_in_the_screening(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            screen_chosen(&bytes);
        }
    }

    #[test]
    fn the_digits_are_those_of_all_scripts() {
        assert!(DIGITS.len() > 600 && DIGITS.len().is_multiple_of(10));
        for tens in DIGITS.chunks(10) {
            let look: String = tens.iter().collect();
            assert_eq!(Look::of(&look).as_str(), "0123456789");
        }
    }
}

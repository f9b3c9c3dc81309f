//! Detects international bank account numbers (ISO 13616): country, check digits, and a valid remainder.

use std::sync::LazyLock;

use memgate_text::rules::pattern::Pattern;

use crate::{
    finding::{Finding, ascii_boundary, collect, pattern},
    policy::Class,
};

static IBAN: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(concat!(
        ascii_boundary!(),
        r"(?i)([a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,4})?)",
        ascii_boundary!(),
    ))
});

/// A number that its label names, whatever its check digits: part of it may be masked.
static LABELLED: LazyLock<Pattern> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b|(?-u:\b))(?:iban|account (?:number|no\.?)|kontonummer|sort code|routing number|numéro de compte|número de cuenta)(?:\b|(?-u:\b))[^\n\d]{0,20}?([a-z]{0,2}\d[\dx -]{4,34})",
    )
});

/// The remainder of a valid number, by ISO 7064.
fn is_valid(value: &str) -> bool {
    let plain: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let (head, tail) = plain.split_at(4);
    let remainder = tail.chars().chain(head.chars()).try_fold(0u32, |rest, c| {
        let digit = c.to_digit(36)?;
        Some(if digit > 9 { rest * 100 + digit } else { rest * 10 + digit } % 97)
    });
    remainder == Some(1)
}

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    collect(&IBAN, Class::Iban, text, is_valid, &mut found);
    collect(&LABELLED, Class::Iban, text, |_| true, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_number_is_found_and_one_with_a_wrong_check_digit_is_not() {
        for text in [
            "DE89 3704 0044 0532 0130 00",
            "GB82WEST12345698765432",
            "iban 1234 5678 9012",
            "我的账号是DE89370400440532013000。",
            "口座はGB82WEST12345698765432です",
        ] {
            assert_eq!(find(text).len(), 1, "{text}");
        }
        assert!(find("DE88 3704 0044 0532 0130 00").is_empty());
    }
}

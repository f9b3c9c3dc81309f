//! Detects secrets: keys, tokens, passwords and codes.

mod code;
mod credential;
mod gitleaks;
mod seed_phrase;
mod token;
mod unlabelled;

use crate::{finding::Finding, policy::Class};

/// The longest number that counts as a code and not as a password, in bytes.
const MAX_CODE: usize = 10;

pub(crate) fn find(text: &str) -> Vec<Finding> {
    let mut found = token::find(text);
    found.extend(gitleaks::find(text));
    found.extend(seed_phrase::find(text));
    found.extend(credential::find(text).into_iter().map(|it| as_code(it, text)));
    found.extend(code::find(text));
    found.extend(unlabelled::find(text));
    found
}

/// Secrets that nobody takes for an ordinary id: keys and tokens of a known format, and values beside their label.
/// Randomness alone says nothing of an id.
pub(crate) fn find_in_name(text: &str) -> Vec<Finding> {
    let mut found = token::find_formatted(text);
    found.extend(gitleaks::find_formatted(text));
    found.extend(seed_phrase::find(text));
    found.extend(credential::find_assigned(text));
    found
}

/// A short number after "password" is a code: "密码是4417".
fn as_code(found: Finding, text: &str) -> Finding {
    let value = &text[found.span.clone()];
    let number =
        value.len() <= MAX_CODE && value.bytes().all(|b| b.is_ascii_digit() || b"#*-".contains(&b));
    match number {
        true => Finding { class: Class::Code, ..found },
        false => found,
    }
}

//! Detects personal data: numbers that identify a person, contacts, health.

mod card;
mod check_digits;
mod contact;
mod health;
mod iban;
mod national_id;

use crate::{finding::Finding, policy::Class};

const CONTACTS: [Class; 3] = [Class::Email, Class::Phone, Class::Address];

/// The findings in a text or its look of the classes that are `wanted`; the others may be missing.
pub(crate) fn find(text: &str, wanted: impl Fn(Class) -> bool) -> Vec<Finding> {
    let mut found = card::find(text);
    found.extend(iban::find(text));
    found.extend(national_id::find(text));
    // By far most of the work, and by default for nothing: what is kept anyway is not looked for.
    if CONTACTS.into_iter().any(&wanted) {
        found.extend(contact::find(text));
    }
    if wanted(Class::Health) {
        found.extend(health::find(text));
    }
    found
}

/// The findings that a text shows and its look does not, of the classes that are `wanted`.
pub(crate) fn as_written(text: &str, wanted: impl Fn(Class) -> bool) -> Vec<Finding> {
    if CONTACTS.into_iter().any(wanted) { contact::as_written(text) } else { Vec::new() }
}

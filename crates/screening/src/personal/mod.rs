//! Detects personal data: numbers that identify a person, contacts, health.

mod card;
mod check_digits;
mod contact;
mod health;
mod iban;
mod national_id;

use crate::{finding::Finding, policy::Class};

/// The findings of the classes that are `wanted`; the others may be missing.
pub(crate) fn find(text: &str, wanted: impl Fn(Class) -> bool) -> Vec<Finding> {
    let mut found = card::find(text);
    found.extend(iban::find(text));
    found.extend(national_id::find(text));
    // By far most of the work, and by default for nothing: what is kept anyway is not looked for.
    if [Class::Email, Class::Phone, Class::Address].into_iter().any(&wanted) {
        found.extend(contact::find(text));
    }
    if wanted(Class::Health) {
        found.extend(health::find(text));
    }
    found
}

//! Detects secrets that no label names: by their form, and by words near them that speak of something locked, opened or
//! just received.

mod lock;
mod near;
mod network;
mod one_time;
mod phrase;
mod spelled;
mod word;

use crate::finding::Finding;
pub(super) use spelled::DIGIT;

pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut found = lock::find(text);
    found.extend(one_time::find(text));
    found.extend(network::find(text));
    found.extend(phrase::find(text));
    found.extend(word::find(text));
    found
}

//! How two statements of one user stand to one another: the same, one with more to tell, one in
//! place of the other, or beside each other. By words, values and the cosine of their vectors; no
//! model server is asked.
//!
//! Replacing wrongly loses something true, keeping both shows something old: in doubt both stay.
//! It must never know what is stored, when it was said, or what becomes of it.

mod change;
mod same;
mod slots;
mod statement;
mod values;
mod who;

pub use crate::lang::keys::{Mark, Slot};
pub use same::Verdict;
pub use slots::words_of;
pub use statement::Statement;

/// How `new` stands to `old`, given the cosine of their vectors, where both have one.
pub fn compare(new: &Statement, old: &Statement, cosine: Option<f32>) -> Verdict {
    // Words of change count first: "I no longer eat meat" is near "I eat meat".
    if change::replaces(new, old, cosine) {
        return Verdict::Replaces;
    }
    same::between(new, old, cosine)
}

/// Whether a statement may replace others that are not nearly the same in words: one that tells of
/// a change, or of what one has only one of.
pub fn may_replace(new: &Statement) -> bool {
    [Mark::Turned, Mark::Now, Mark::Correct, Mark::Not].into_iter().any(|mark| new.says(mark))
        || !new.slots.is_empty()
        || !new.values.are_none()
        || change::attribute(new).is_some()
}

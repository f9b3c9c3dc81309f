//! How two statements of one user stand to one another: the same, one with more to tell, one in
//! place of the other, or beside each other. By words, values and the cosine of their vectors; no
//! model server is asked.
//!
//! Replacing wrongly loses something true, keeping both shows something old: in doubt both stay.
//! It must never know what is stored, when it was said, or what becomes of it.

mod change;
mod same;
mod saying;
mod signs;
mod slots;
mod values;
mod who;

#[cfg(test)]
mod tests;

pub(super) use saying::Saying;
pub(super) use signs::Pair;
pub(super) use slots::words_of;

/// How a newer statement stands to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// It says the same, perhaps in other words.
    Same,
    /// It says the same, and more.
    More,
    /// It holds in the other's place.
    Replaces,
    /// They have nothing to do with one another, or hold both.
    Beside,
}

/// How `new` stands to `old`, given the cosine of their vectors, where both have one.
pub(super) fn compare(new: &Saying, old: &Saying, cosine: Option<f32>) -> Stand {
    // What the words show of change counts first: "I no longer eat meat" is near "I eat meat".
    if change::replaces(new, old, cosine) {
        return Stand::Replaces;
    }
    same::between(new, old, cosine)
}

/// Whether a statement may replace others that are not nearly the same in words: one that tells of
/// a change, or of what one has only one of.
pub(super) fn may_replace(new: &Saying) -> bool {
    ["turned", "now", "correct", "not"].into_iter().any(|mark| new.says(mark))
        || !new.slots.is_empty()
        || !new.values.are_none()
        || change::attribute(new).is_some()
}

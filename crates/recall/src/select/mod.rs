//! Selection: which candidates count, and which of the ranked hits are presented.

mod collapse;
mod conversation;
mod dedup;
mod owner;
mod quoted;
mod threshold;

pub use self::threshold::select;
pub(super) use self::{
    collapse::facts_or_turns, conversation::without_conversation, dedup::deduplicated,
    owner::of_owner, threshold::Limits,
};

//! Forgetting: which memories and turns a request names (`matcher`) or means (`meant`), what goes with a memory that is
//! forgotten (`cascade`), what goes with a turn (`turn`), and the grace period in which a request can be undone (`grace`).

mod cascade;
mod grace;
mod matcher;
mod meant;
mod session_memories;
mod summaries;
mod turn;

pub(super) use cascade::{Origins, forget_origins};
pub(super) use grace::{erase, erase_at_once, hide, restore};
pub(super) use matcher::matching;
#[cfg(test)]
pub(super) use matcher::means;
pub(super) use meant::meant;
pub(super) use turn::forget_turn;

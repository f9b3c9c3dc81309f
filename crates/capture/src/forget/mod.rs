//! Forgetting: which memories and turns a request names (`says`) or means (`meant`),
//! which memories and turns say that (`matcher`), what else these tell and is left (`cut`), what goes with a memory that is
//! forgotten (`cascade`), what goes with a turn whose message was edited (`turn`), and the grace period in which a request can be undone (`grace`).

mod cascade;
mod cut;
mod grace;
mod matcher;
mod meant;
mod says;
mod session_memories;
mod summaries;
mod turn;

pub(super) use cascade::{Origins, forget_origins};
pub(super) use grace::{erase, erase_at_once, hide, restore};
pub(super) use matcher::{Matches, matching};
pub(super) use meant::meant;
#[cfg(test)]
pub(super) use says::meaning;
pub(super) use turn::made_of;

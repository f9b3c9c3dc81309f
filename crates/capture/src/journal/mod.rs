//! The durable log of turns, and of the jobs they owe, in a file of its own.
//!
//! A turn and its jobs are written in one transaction: after a crash either
//! both are there or neither. The journal takes screened entries only. It does not depend on what
//! makes memories of turns.

mod chain;
mod columns;
mod database;
mod edits;
mod entry;
mod forget;
mod jobs;
mod orders;
mod prune;
mod read;
mod record;
mod schema;
mod session_values;
mod sessions;
mod tools;

#[cfg(test)]
mod tests;

pub(crate) use chain::{chain, of_session};
pub(crate) use database::Journal;
pub(crate) use edits::EditOrder;
pub(crate) use entry::{Entry, EntryReply, Forgotten, History};
pub use forget::{Forget, Forgetting};
pub(crate) use forget::{
    Hidden, cancel_forgetting, erase_later, hidden_by, hidden_for, pending_forgettings,
    withhold_words,
};
pub(crate) use jobs::{
    ClaimedJob, JobKind, Next, Owed, Room, Settled, ask_for_pruning, ask_for_vectors, lanes_of,
    list_jobs, next_due, next_time, of_owner, owed, retry, retry_dead, settle,
};
pub use jobs::{JobQuery, JobRow, JobStanding};
pub(crate) use orders::{
    ForgetOrder, Orders, RememberOrder, has_to_forget, later_turns, owe_forgetting,
};
pub(crate) use prune::{
    Pruned, dead_jobs as prune_dead_jobs, look as look_for_old_turns, turns as prune_turns,
};
pub use read::TurnRow;
pub(crate) use read::{
    batch, list_turns, note_prompt, turn, turn_and_before, turn_right_before, turns_of_ids,
    turns_until,
};
pub(crate) use record::Recorded;
pub(crate) use session_values::SessionState;
pub use sessions::SessionRow;
pub(crate) use sessions::{
    Waits, end_if_idle, end_of_turn, ended_without_user, extract_before, is_quiet_since,
    list_sessions, never_sum_up, sum_up_again, to_sum_up,
};

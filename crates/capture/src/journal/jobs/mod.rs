//! Jobs: asked for, claimed, settled and listed.

mod due;
mod kind;
mod ledger;
mod queue;

pub(crate) use due::{Owed, Room, next_due, next_time, owed};
pub(crate) use kind::{JobKind, lanes_of};
pub use ledger::{JobQuery, JobRow, JobStanding};
pub(crate) use ledger::{list_jobs, retry, retry_dead};
pub(crate) use queue::{
    ClaimedJob, Next, Settled, ask_for_pruning, ask_for_vectors, of_owner, settle,
};
pub(in crate::journal) use queue::{
    ask_for_end, ask_for_erasure, ask_for_extraction, ask_for_order, ask_for_summary, ask_for_turn,
    cancel, hurry,
};

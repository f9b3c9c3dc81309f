//! Jobs: the runner that takes them from the journal, and one file for each kind of job.
//!
//! Jobs call `extract`, `reconcile` and `forget`; none of these knows a job.

mod candidates;
mod context;
mod drift;
mod kinds;
mod payload;
mod per_user;
mod prompts;
mod related;
mod retry;
mod runner;

pub(super) use context::JobContext;
pub(super) use kinds::{EMBED_REST, owe_vectors};
pub(super) use per_user::{Held, Lanes};
pub(super) use runner::{Runner, Slots};

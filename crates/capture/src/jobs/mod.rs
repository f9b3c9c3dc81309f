//! Jobs: the runner that takes them from the journal, and one file for each kind of job.
//!
//! Jobs call `extract`, `reconcile` and `forget`; none of these knows a job.

mod candidates;
mod drift;
mod kinds;
mod payload;
mod prompts;
mod related;
mod requests;
mod retry;
mod runner;

pub(super) use runner::{Runner, Slots};

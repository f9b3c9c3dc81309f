//! Reconciliation of candidates with stored memories. A candidate that says the same reinforces a
//! memory; one that says more becomes its new version; one that replaces a memory supersedes it; any
//! other becomes a memory of its own. Nothing is lost: versions stay in the history, and a superseded
//! memory stays stored with the time until which it held.
//!
//! It is the one way in for candidates, whichever extractor found them. It knows neither the journal nor
//! jobs.

mod batch;
mod context;
mod error;
mod implicit_update;
mod origin;
mod reinforce;
mod relations;
mod replace;
mod residual_sentences;
mod scope;
mod supersede;
mod turn_text;
mod wishes;

#[cfg(test)]
mod tests;

pub(super) use batch::reconcile;
pub(super) use error::ReconcileError;
pub(super) use origin::Origin;
pub(super) use residual_sentences::remark;
pub use supersede::{Judged, judged};
pub(super) use supersede::{clauses, left_of, say_no_longer};
pub use turn_text::told;
pub(super) use turn_text::{folded, still_true, without_repeats};

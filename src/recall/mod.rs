//! Recall: decision → query → hits → context, for one ask.
//!
//! Each step is a file, in that order. Recall must never know a wire format,
//! Envoy, or how a store keeps things.

mod context;
mod decide;
mod everyday;
mod excerpt;
mod fusion;
mod gate;
mod held;
mod helped;
mod inquiry;
mod line;
mod merge;
mod names;
mod narrowed;
mod neighbours;
mod own;
mod parts;
mod profile;
mod query;
mod rank;
mod reading;
mod rewrite;
mod said;
mod scored;
mod search;
mod standing;
mod statements;
mod summaries;
mod tokens;
mod touch;

pub use context::{Budget, Context, Presented};
pub use decide::{By, Decided, Decision, Message, Skip, decide};
pub use gate::gate;
pub use held::{HeldContexts, LoopKey};
pub use inquiry::{Considered, Inquiry};
pub use parts::{Added, Parts, Ranks};
pub use query::{Query, build as build_query, prepare as prepare_query};
pub use rank::{Hit, Question, Terms, rank};
pub use reading::Read;
#[cfg(fuzzing)]
pub use rewrite::fuzz as fuzz_self_query;
pub use rewrite::{Help, Rewriter, Words};
pub use scored::Scored;
pub use search::{Failure, Recall, Request};
pub use tokens::{prepare as prepare_tokens, tokens};
pub use touch::Touches;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;

//! Query understanding: from the user's message to what is searched for. It does not know what is stored, nor how hits
//! are ranked.

mod build;
mod rewrite;

pub use self::build::{Asked, Query, Technique, build as build_query, prepare as prepare_query};
#[cfg(fuzzing)]
pub use self::rewrite::fuzz as fuzz_self_query;
pub use self::rewrite::{Help, Rewriter, Words};
pub(super) use self::rewrite::{HelpRequest, ModelAnswer};

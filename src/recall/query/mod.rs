//! Query understanding: from the user's message to what is searched for. It does not know what is stored, nor how hits
//! are ranked.

mod asking;
mod build;
mod dates;
mod key_terms;
mod kind;
mod parts;
mod relative;
mod rewrite;
mod statement;
mod vague;
mod words;

pub use self::build::{Asked, Query, build as build_query, prepare as prepare_query};
#[cfg(fuzzing)]
pub use self::rewrite::fuzz as fuzz_self_query;
pub use self::rewrite::{Help, Rewriter, Words};
pub(super) use self::{
    asking::{asking, width},
    rewrite::{HelpRequest, ModelAnswer},
    vague::is_follow_up,
};

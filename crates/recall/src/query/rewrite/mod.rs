//! The model that helps to find, with the role `memory_rewrite`: it rewrites a question that depends on the
//! conversation, guesses what an answer would look like (HyDE), or names conditions on the memories that the question
//! wants (self-query).

mod help;
mod model;
mod self_query;
mod words;

pub use self::help::{Help, Words};
pub(crate) use self::help::{HelpRequest, ModelAnswer};
pub use self::model::Rewriter;
#[cfg(fuzzing)]
pub use self::self_query::fuzz;

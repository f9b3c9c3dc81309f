//! Reads a tree of values into Rust types, so that every error names the key and, if the source has
//! lines, the line. Unknown keys are refused. YAML, JSON and queries only build the tree
//! ([`Node`]); [`read`] is the same for all, and who calls it words the [`Cause`]s.

mod access;
mod deserializer;
mod error;
mod flatten;
mod node;
mod overlay;
mod path;
mod prune;
mod reader;
mod variant;

pub use deserializer::read;
pub use error::{Cause, Error, Errors, Expected, Found};
#[doc(hidden)]
pub use flatten::{fields_of, parts};
pub use node::{Key, Node, Value};
pub use path::join;
pub use prune::read_without;

#[doc(hidden)]
pub use serde;

#[cfg(test)]
mod tests;

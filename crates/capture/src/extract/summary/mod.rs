//! The summary of a session that has ended: a few sentences, stored as one episodic memory.

mod local;
mod memory;
mod model;

pub(crate) use local::central_statements;
pub(crate) use memory::{by_scope, memory};
pub(crate) use model::{Told, ask};

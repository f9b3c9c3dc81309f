//! The summary of a session that has ended: a few sentences, stored as one episodic memory.

mod local;
mod memory;
mod model;

pub(in crate::capture) use local::central_statements;
pub(in crate::capture) use memory::{by_scope, memory};
pub(in crate::capture) use model::{Told, ask};

//! State that recall keeps between requests.

mod access;
mod tool_loops;

pub use self::access::AccessTracker;
pub use self::tool_loops::{LoopKey, ToolLoopCache};

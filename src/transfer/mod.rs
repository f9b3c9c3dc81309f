//! The file in which memories go from one memgate to another: JSON, a line a memory.
//! docs/export.md describes it.
//!
//! It must never know a store, HTTP, or where the lines come from and go to.

mod line;
mod lines;

pub use line::{FORMAT, Header, Line, LineError};
pub use lines::{Lines, MAX_LINE_BYTES, Raw};

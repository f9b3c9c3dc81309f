//! The export file format: JSON Lines, one memory per line. docs/export.md describes it.
//!
//! It must not depend on stores or HTTP.

mod line;
mod lines;

pub use line::{FORMAT, Header, Line, LineError};
pub use lines::{Lines, MAX_LINE_BYTES, Raw};

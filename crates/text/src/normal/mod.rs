//! Forms that are one for all texts that look the same.

mod char_class;
pub(crate) mod folded;
mod look;
mod words;

pub(crate) use look::ascii_digit;
pub use look::{Look, lookalike};
pub use words::{is_cjk, one_line, plain, tokens};

//! Selection: which of the ranked hits are presented.

mod dedup;
mod threshold;

pub use self::threshold::select;
pub(super) use self::{dedup::deduplicated, threshold::Limits};

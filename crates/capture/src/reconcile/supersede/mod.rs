//! Superseding: whether a message outdates older sentences, what becomes of these, and what of them still holds.

mod clauses;
mod judged;
mod put_away;
mod still_holds;

pub(crate) use clauses::{clauses, left_of};
pub use judged::{Judged, judged};
pub(crate) use put_away::say_no_longer;
pub(super) use put_away::{doubt, leave_out, put_away, supersede};

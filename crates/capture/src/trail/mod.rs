//! The trail of turns: the outcomes of the latest ones, each with its reason. The screening, the jobs and reconciliation write
//! it. It holds ids and names of reasons, never words.

mod keeper;
mod record;

pub use keeper::TurnTrail;
pub use record::{Became, TurnEvent, TurnName, TurnRecord};

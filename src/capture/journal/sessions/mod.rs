//! Sessions: found or begun, ended, summarised, listed, and the values they hold.

mod end;
mod find;
mod ledger;
mod summaries;
mod trigger;
mod values;

pub(in crate::capture) use end::{Ended, Waits, end_if_idle, extract_before};
pub(in crate::capture::journal) use end::{complete, end};
pub(in crate::capture::journal) use find::{Session, find, resolve, running};
pub use ledger::SessionRow;
pub(in crate::capture) use ledger::list_sessions;
pub(in crate::capture) use summaries::{never_sum_up, sum_up_again, to_sum_up};
pub(in crate::capture) use values::SessionState;

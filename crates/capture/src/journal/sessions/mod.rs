//! Sessions: found or begun, ended, summarised and listed.

mod end;
mod find;
mod ledger;
mod summaries;
mod trigger;

pub(crate) use end::{Ended, Waits, end_if_idle, extract_before};
pub(in crate::journal) use end::{complete, end};
pub(in crate::journal) use find::{Session, find, resolve, running};
pub use ledger::SessionRow;
pub(crate) use ledger::{end_of_turn, ended_without_user, is_quiet_since, list_sessions};
pub(crate) use summaries::{never_sum_up, sum_up_again, to_sum_up};

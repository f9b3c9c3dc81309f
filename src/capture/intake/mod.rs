//! From the gateway into the journal. Nothing here waits.

mod in_flight;
mod queue;
mod rate_limited_log;
mod screen;

pub(in crate::capture) use in_flight::Exchanges;
pub use in_flight::InFlight;
pub(in crate::capture) use queue::{Intake, Scribe};
#[cfg(test)]
pub(in crate::capture) use screen::screened;

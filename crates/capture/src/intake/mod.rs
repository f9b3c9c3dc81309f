//! From the gateway into the journal. Nothing here waits.

mod in_flight;
mod queue;
mod rate_limited_log;
mod screen;

pub(crate) use in_flight::Exchanges;
pub use in_flight::InFlight;
pub(crate) use queue::{Intake, Scribe};
#[cfg(test)]
pub(crate) use screen::screened;
pub use screen::{OnDisk, on_disk};

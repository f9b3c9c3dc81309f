//! From the gateway into the journal. Nothing here waits.

mod in_flight;
#[cfg(test)]
mod labelled;
mod on_disk;
mod queue;
mod rate_limited_log;
mod screen;

pub(crate) use in_flight::Exchanges;
pub use in_flight::InFlight;
pub use on_disk::{OnDisk, on_disk};
pub use queue::CaptureDrop;
pub(crate) use queue::{Intake, Scribe};
#[cfg(test)]
pub(crate) use screen::screened;

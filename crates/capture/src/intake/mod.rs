//! From the gateway into the journal. Nothing here waits.

mod backlog;
mod capture_drop;
mod in_flight;
#[cfg(test)]
mod labelled;
#[cfg(test)]
mod linear;
mod on_disk;
mod queue;
mod screen;
mod scribe;
#[cfg(test)]
mod tests;

pub use capture_drop::CaptureDrop;
pub(crate) use in_flight::Exchanges;
pub use in_flight::InFlight;
pub use on_disk::{OnDisk, may_be_kept_whole, on_disk};
pub(crate) use queue::Intake;
pub(crate) use screen::screened;
pub(crate) use scribe::Scribe;

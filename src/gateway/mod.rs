//! Envoy's side: the ext_proc service, and one state machine per exchange.
//!
//! Only this module knows Envoy's types. It must not depend on SQL, on the JSON of a wire format,
//! or on ranking. A request goes through [`service`] → [`exchange`] → [`recall_side`], which may
//! edit the body; the reply goes through [`exchange`] → [`capture_side`], which only reads.

mod budget;
mod capture_side;
mod exchange;
mod history;
mod metadata;
mod outcome;
mod parts;
mod recall_side;
mod replies;
mod request;
mod service;
#[cfg(test)]
mod tests;
mod timeout_extension;

pub use budget::Budget;
pub use outcome::{FailedBecause, Outcome};
pub use parts::{Memory, Parts};
pub use request::{Admission, Admitted, admit};
pub use service::{Gateway, serve};

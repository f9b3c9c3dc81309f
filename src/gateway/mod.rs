//! Envoy's side: the ext_proc service, and one state machine an exchange.
//!
//! Only this module knows Envoy's types. It does not depend on SQL, on a JSON path of
//! a wire format, or on how memories are ranked. The way of a request:
//! [`service`] → [`exchange`] → [`recall_side`] (may edit the body), and of the
//! reply: [`exchange`] → [`capture_side`] (only ever reads).

mod budget;
mod capture_side;
mod exchange;
mod history;
mod metadata;
mod outcome;
mod recall_side;
mod replies;
mod request;
mod service;
#[cfg(test)]
mod tests;
mod timeout_extension;

pub use budget::Budget;
pub use outcome::{FailedBecause, Outcome};
pub use request::{Admission, Admitted, admit};
pub use service::{Gateway, Memory, Parts, serve};

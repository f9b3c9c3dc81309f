//! Envoy's side: the ext_proc service, and one state machine an exchange.
//!
//! Only this module knows Envoy's types. It must never know SQL, a JSON path of
//! a wire format, or how memories are ranked. The way of a request:
//! [`service`] → [`exchange`] → [`recall_side`] (may edit the body), and of the
//! reply: [`exchange`] → [`capture_side`] (only ever reads).

mod admission;
mod budget;
mod capture_side;
mod exchange;
mod head;
mod metadata;
mod outcome;
mod patience;
mod recall_side;
mod replies;
mod service;
#[cfg(test)]
mod tests;

pub use admission::{Admission, Admitted, admit};
pub use budget::Budget;
pub use outcome::{FailedBecause, Outcome};
pub use service::{Gateway, Memory, Parts, serve};

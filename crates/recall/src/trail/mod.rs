//! The trail: what recall did for each of the latest requests, and why. `trace` is filled while a request runs, `keeper`
//! keeps the records, `record` is what can be looked up. It holds ids and scores; words only of the query, only where
//! the configuration asks for them, and only of messages that may be stored. The content of memories is never in it.

mod keeper;
mod record;
mod trace;

pub use keeper::{MayStore, RecallTrail, TrailSettings};
pub use record::{Candidate, QueryRecord, QueryWords, RecallRecord, Recalled, Standing};
pub use trace::{Cut, Step, Trace};

#[cfg(test)]
mod tests;

//! Measures the quality of memory on labelled data, with the parts of `memgate serve`. The program
//! hands these parts over; this crate knows neither start-up nor the configuration file. Only the
//! clock is simulated, and no setting exists for evaluations only.

mod baseline;
mod conversations;
mod count;
mod data;
mod evaluation;
mod forgetting;
mod helper;
mod locomo;
mod longmemeval;
mod memorable;
mod messages;
mod ordinary;
mod parse;
mod placement;
mod poisoning;
mod refusals;
mod replay;
mod scenarios;
mod signals;
mod table;
mod updates;

#[cfg(test)]
mod test_support;

pub use data::{Digests, file_sha256};
pub use evaluation::{Evaluation, Services};
pub use forgetting::Forgetting;
pub use locomo::Locomo;
pub use longmemeval::LongMemEval;
pub use memorable::Memorable;
pub use messages::Messages;
pub use ordinary::Ordinary;
pub use placement::Placements;
pub use poisoning::Poisoning;
pub use refusals::Refusals;
pub use scenarios::Scenarios;
pub use signals::Signals;
pub use updates::Updates;

//! Capture: finished turns into the journal, and from there into memories, in
//! the background.
//!
//! No request waits for it. It knows neither Envoy, nor a wire format beyond the dialect's neutral view,
//! nor how a store keeps memories.
//!
//! The way of a turn: `service` → `intake` (bounded queue, screening) → `journal` (durable, with the
//! jobs it owes) → `jobs` → `extract` → `admission` → `reconcile` → `writer` → the store.
//!
//! Files depend on each other in one direction: `jobs` → `extract`, `reconcile`, `forget` → `writer`,
//! `turn`. Only `service`, `intake`, `jobs` and `forget` know the journal.

mod admission;
mod backfill;
mod candidate;
mod error;
mod extract;
mod extractor;
mod forget;
mod intake;
mod jobs;
mod journal;
mod lanes;
mod parts;
mod preferences;
mod reconcile;
mod service;
mod session;
mod settings;
mod trail;
mod turn;
mod writer;

#[cfg(test)]
mod test_support;

pub use admission::{
    Author, NotAdmitted, OrdersToModel, Refusal, SecretName, admit_members, admit_memory,
    admit_name, admit_text, admit_value, may_become_memory, prepare,
};
pub use backfill::Backfill;
pub use error::ForgetError;
#[cfg(fuzzing)]
pub use extract::llm::fuzz as fuzz_helper_answer;
pub use intake::{CaptureDrop, InFlight, OnDisk, may_be_kept_whole, on_disk};
pub use journal::{Forget, Forgetting, JobQuery, JobRow, JobStanding, SessionRow, TurnRow};
pub use preferences::{preference_memory, preferences_of, set_preference, standing_of};
pub use reconcile::{Judged, judged, told};
pub use service::{Bounds, Capture, Flushed};
pub use session::{Place, SessionKey};
pub use settings::{AnonymousBounds, Least, Policy, Retention, SessionRules, Settings};
pub use trail::{Became, TurnEvent, TurnName, TurnRecord, TurnTrail};
pub use turn::{Circumstances, FinishedTurn, JournaledTurn};
pub use writer::Tools;

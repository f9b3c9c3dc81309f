//! Who may use the API, and who changed what: API keys and the audit log, in one file of the data
//! folder.
//!
//! It must not depend on HTTP, and neither part holds content of memories.

mod audit;
mod database;
mod key;
mod keys;
mod schema;
mod secret;

pub use audit::{Action, Actor, Audit, AuditEntry, AuditQuery, Retention, Subject};
pub use database::Access;
pub use key::{Bound, InvalidKey, KeyRecord, NewKey, Scope, Scopes};
pub use keys::{HeldKey, KeyError, Keys};
pub use secret::{Digest, Secret};

#[cfg(test)]
mod tests;

//! Times and owners as columns hold them.

use jiff::Timestamp;
use rusqlite::types::FromSqlError;

use memgate_core::memory::Owner;

/// A time as it stands in the tables.
pub(crate) fn millis(time: Timestamp) -> i64 {
    time.as_millisecond()
}

/// A time as it stood in the tables.
pub(crate) fn time(millis: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(millis).map_err(|error| corrupt(Box::new(error)))
}

/// An owner as it stood in the tables.
pub(crate) fn owner(tenant: &str, user: &str) -> rusqlite::Result<Owner> {
    Owner::named(tenant, user).map_err(|error| corrupt(Box::new(error)))
}

fn corrupt(error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    FromSqlError::Other(error).into()
}

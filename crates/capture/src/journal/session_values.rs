//! Values of a session beside its turns, by name, with an expiry.

use async_trait::async_trait;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use crate::journal::{columns::millis, database::Journal};
use memgate_core::memory::Owner;
use memgate_sqlite::DatabaseError;

/// Named values of sessions. A session that does not exist has
/// no values and takes none. When one of its turns is forgotten, its values go too.
#[async_trait]
pub(crate) trait SessionState: Send + Sync {
    /// A value, unless it has expired by `now`.
    ///
    /// # Errors
    /// [`DatabaseError`] when it cannot be read.
    async fn value(
        &self,
        owner: &Owner,
        session: &str,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>, DatabaseError>;

    /// Sets a value, until it expires or is set again. Returns whether the session exists.
    ///
    /// # Errors
    /// [`DatabaseError`] when it cannot be written.
    async fn set_value(
        &self,
        owner: &Owner,
        session: &str,
        name: &str,
        value: Vec<u8>,
        expires: Option<Timestamp>,
    ) -> Result<bool, DatabaseError>;
}

#[async_trait]
impl SessionState for Journal {
    async fn value(
        &self,
        owner: &Owner,
        session: &str,
        name: &str,
        now: Timestamp,
    ) -> Result<Option<Vec<u8>>, DatabaseError> {
        let (owner, session, name) = (owner.clone(), session.to_owned(), name.to_owned());
        self.read(move |c| {
            c.prepare_cached(
                "SELECT v.value FROM session_values v JOIN sessions s ON s.id = v.session
                 WHERE s.tenant = ?1 AND s.user = ?2 AND s.name = ?3 AND v.name = ?4
                   AND (v.expires_at IS NULL OR v.expires_at > ?5)",
            )?
            .query_row(params![owner.tenant(), owner.name(), session, name, millis(now)], |row| {
                row.get(0)
            })
            .optional()
        })
        .await
    }

    async fn set_value(
        &self,
        owner: &Owner,
        session: &str,
        name: &str,
        value: Vec<u8>,
        expires: Option<Timestamp>,
    ) -> Result<bool, DatabaseError> {
        let (owner, session, name) = (owner.clone(), session.to_owned(), name.to_owned());
        self.write(move |c| {
            let written = c
                .prepare_cached(
                    "INSERT OR REPLACE INTO session_values (session, name, value, expires_at)
                     SELECT id, ?4, ?5, ?6 FROM sessions
                     WHERE tenant = ?1 AND user = ?2 AND name = ?3",
                )?
                .execute(params![
                    owner.tenant(),
                    owner.name(),
                    session,
                    name,
                    value,
                    expires.map(millis)
                ])?;
            Ok(written > 0)
        })
        .await
    }
}

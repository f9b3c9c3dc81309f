//! Jobs, sessions and turns, for operators and users.

use crate::{
    journal::{self, JobQuery, JobRow, SessionRow, TurnRow},
    service::capture::Capture,
};
use memgate_core::memory::Owner;
use memgate_sqlite::DatabaseError;

impl Capture {
    /// Jobs, the newest first. With an owner they are jobs that name this owner;
    /// without one they are everybody's, which only an operator may see.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be read.
    pub async fn jobs(&self, query: JobQuery) -> Result<Vec<JobRow>, DatabaseError> {
        self.parts.journal.read(move |c| journal::list_jobs(c, &query)).await
    }

    /// Makes an owner's job due now, dead or not, with all tries before it;
    /// `None` when the owner has no such job.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn retry_job(&self, owner: &Owner, id: i64) -> Result<Option<JobRow>, DatabaseError> {
        let (owner, now) = (owner.clone(), self.parts.journal.now());
        let job = self.parts.journal.write(move |c| journal::retry(c, &owner, id, now)).await?;
        self.parts.wake.notify_one();
        Ok(job)
    }

    /// Retries all dead jobs of an owner, or of everybody; returns how many.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written.
    pub async fn retry_dead_jobs(&self, owner: Option<&Owner>) -> Result<u64, DatabaseError> {
        let (owner, now) = (owner.cloned(), self.parts.journal.now());
        let retried =
            self.parts.journal.write(move |c| journal::retry_dead(c, owner.as_ref(), now)).await?;
        self.parts.wake.notify_one();
        Ok(retried)
    }

    /// An owner's sessions, the one that began last first; only those before the
    /// place of another.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be read.
    pub async fn sessions(
        &self,
        owner: &Owner,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<SessionRow>, DatabaseError> {
        let owner = owner.clone();
        self.parts.journal.read(move |c| journal::list_sessions(c, &owner, before, limit)).await
    }

    /// The turns of an owner's session, the last first; only those before the place of another. `None` when the owner has
    /// no such session.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be read.
    pub async fn turns(
        &self,
        owner: &Owner,
        session: &str,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Option<Vec<TurnRow>>, DatabaseError> {
        let (owner, session) = (owner.clone(), session.to_owned());
        self.parts
            .journal
            .read(move |c| journal::list_turns(c, &owner, &session, before, limit))
            .await
    }

    /// An owner's turns with these ids that are still in the journal.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be read.
    pub async fn turns_of_ids(
        &self,
        owner: &Owner,
        ids: Vec<String>,
    ) -> Result<Vec<TurnRow>, DatabaseError> {
        let owner = owner.clone();
        self.parts.journal.read(move |c| journal::turns_of_ids(c, &owner, &ids)).await
    }
}

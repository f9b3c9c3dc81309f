//! Flush: everything an owner said so far becomes memories now.

use std::{collections::HashSet, time::Duration};

use tokio::time::{Instant, sleep, timeout_at};

use crate::{journal, service::capture::Capture};
use memgate_core::memory::Owner;
use memgate_sqlite::DatabaseError;

/// The longest pause between two looks at what is left.
const LOOK: Duration = Duration::from_millis(100);

/// Result of a flush. Jobs still pending mean that the time ran out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Flushed {
    /// Sessions that were running and have ended.
    pub sessions_ended: u64,
    /// Jobs done meanwhile.
    pub jobs_done: u64,
    /// Jobs not done in time, and exchanges that had not ended in time.
    pub jobs_pending: u64,
    /// Jobs given up, now or earlier.
    pub jobs_dead: u64,
}

impl Capture {
    /// Waits for the owner's exchanges in flight, ends the owner's sessions and
    /// waits for the jobs, all together no longer than `patience`.
    ///
    /// # Errors
    /// [`DatabaseError`] when the journal cannot be written or read.
    pub async fn flush(&self, owner: &Owner, patience: Duration) -> Result<Flushed, DatabaseError> {
        let deadline = Instant::now() + patience;
        let arrived = async {
            self.parts.exchanges.settled(owner).await;
            self.intake.barrier().await;
        };
        let all_arrived = timeout_at(deadline, arrived).await.is_ok();
        let (rules, now) = (self.parts.live.rules(), self.parts.journal.now());
        let sessions_ended = self.parts.journal.end_all(owner.clone(), rules, now).await?;
        self.parts.wake.notify_one();
        let mut seen = HashSet::new();
        let left = loop {
            let settled = self.parts.settled.notified();
            tokio::pin!(settled);
            // Registered before looking, or a job settled in between would be missed.
            settled.as_mut().enable();
            let (asked, looked) = (owner.clone(), Instant::now());
            let left = self.parts.journal.read(move |c| journal::of_owner(c, &asked)).await?;
            let look = looked.elapsed();
            seen.extend(left.pending.iter().copied());
            if left.pending.is_empty() || timeout_at(deadline, settled).await.is_err() {
                break left;
            }
            // An owner with thousands of jobs is not counted anew after each of them.
            sleep((4 * look).min(LOOK)).await;
        };
        let late = if all_arrived { 0 } else { self.parts.exchanges.count(owner).max(1) };
        let not_done = left.pending.iter().chain(&left.dead).collect::<HashSet<_>>();
        Ok(Flushed {
            sessions_ended,
            jobs_done: seen.iter().filter(|job| !not_done.contains(job)).count() as u64,
            jobs_pending: left.pending.len() as u64 + late,
            jobs_dead: left.dead.len() as u64,
        })
    }
}

//! Keeps the trail of turns in memory and, where there is one, in the file that it shares with the trail of requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{
    trail::record::{Became, TurnEvent, TurnName, TurnRecord},
    turn::StoredTurn,
};
use memgate_core::memory::Owner;
use memgate_sqlite::DatabaseError;
use memgate_trail::{Record, Ring, TrailFile};

/// The trail of turns; clones share it.
#[derive(Clone, Default)]
pub struct TurnTrail {
    // Locked to add an event or to look one up, never over an await, and never by a request to a model.
    kept: Option<Arc<Mutex<Ring<TurnRecord>>>>,
    file: Option<TrailFile>,
}

impl TurnTrail {
    /// A trail that keeps nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::default()
    }

    /// A trail of at most this many turns and bytes, which also writes them into a file if there is one; of no turns it
    /// keeps nothing.
    #[must_use]
    pub fn new(turns: usize, bytes: usize, file: Option<TrailFile>) -> Self {
        let kept = (turns > 0).then(|| Arc::new(Mutex::new(Ring::new(turns, bytes))));
        Self { file: file.filter(|_| kept.is_some()), kept }
    }

    /// The record of a turn by its own id or that of its first request, if its owner is within reach.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be read.
    pub async fn find(
        &self,
        id: &str,
        reaches: impl Fn(&Owner) -> bool,
    ) -> Result<Option<TurnRecord>, DatabaseError> {
        // After a restart, the file alone has all that a turn led to.
        let stored = match &self.file {
            Some(file) => file.find(id, &reaches).await?,
            None => None,
        };
        Ok(stored.or_else(|| self.lock()?.find(id, reaches).cloned()))
    }

    /// The newest records of an owner.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be read.
    pub async fn newest(
        &self,
        owner: &Owner,
        most: usize,
    ) -> Result<Vec<TurnRecord>, DatabaseError> {
        if let Some(file) = &self.file {
            return file.newest(owner, most).await;
        }
        let Some(ring) = self.lock() else { return Ok(Vec::new()) };
        Ok(ring.of(owner).take(most).cloned().collect())
    }

    /// Drops the words of an owner, who forgets something, from the file. Only its records of requests have words.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be written.
    pub async fn drop_words(&self, owner: &Owner) -> Result<(), DatabaseError> {
        match &self.file {
            Some(file) => file.drop_words(owner).await,
            None => Ok(()),
        }
    }

    /// Erases an owner's records of turns, and in the file those of requests.
    ///
    /// # Errors
    /// [`DatabaseError`] when the trail's file cannot be written.
    pub async fn erase(&self, owner: &Owner) -> Result<(), DatabaseError> {
        if let Some(mut ring) = self.lock() {
            ring.drop_all(owner);
        }
        match &self.file {
            Some(file) => file.erase(owner).await,
            None => Ok(()),
        }
    }

    /// Notes what a turn led to. Noted again, as by a job that runs twice, it is known.
    pub(crate) fn note(&self, name: TurnName, events: impl IntoIterator<Item = TurnEvent>) {
        let Some(mut ring) = self.lock() else { return };
        let owner = name.owner.clone();
        let ids = [name.request_id.clone(), name.turn.clone()];
        let same = |known: &TurnRecord| ids.iter().flatten().any(|id| known.is(id));
        let mut events = Some(events);
        let known = ring.change(&owner, same, |known| {
            known.add(name.turn.as_ref(), events.take().into_iter().flatten());
            known.clone()
        });
        let record = known.unwrap_or_else(|| {
            let mut record = TurnRecord { name, events: Vec::new() };
            record.add(None, events.into_iter().flatten());
            ring.push(record.clone());
            record
        });
        drop(ring);
        if let Some(file) = &self.file {
            file.keep(&record);
        }
    }

    /// Logs the outcomes of a turn so far: one line, without words and without the user.
    pub(crate) fn log(&self, turn: &StoredTurn) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let Some(ring) = self.lock() else { return };
        let Some(record) = ring.find(&turn.key, |owner| *owner == turn.owner).cloned() else {
            return;
        };
        drop(ring);
        let of = |became: &[Became]| {
            let events = record.events.iter().filter(|it| became.contains(&it.became));
            events.map(TurnEvent::to_string).collect::<Vec<_>>().join(", ")
        };
        tracing::debug!(
            request_id = record.name.request_id,
            kept = of(&[Became::Kept, Became::Updated, Became::Merged]),
            refused = of(&[Became::Refused, Became::Redacted]),
            dropped = of(&[Became::Dropped, Became::Outdated]),
            superseded = of(&[Became::Superseded]),
            forgotten = of(&[Became::Forgotten]),
            "Memory: Learned from a turn",
        );
    }

    fn lock(&self) -> Option<MutexGuard<'_, Ring<TurnRecord>>> {
        Some(self.kept.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

//! A store as everybody else sees it: whether it can be reached is known, said once, and asked of
//! the store itself by one task alone. While it is away everything asked of it fails at once.
//!
//! It must never know which store it watches, nor what is asked of it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use crate::{
    memory::{
        Counts, Embedding, Evidence, Filter, ForgetScope, ListQuery, Memory, MemoryId, MemoryStore,
        Owner, Page, Restored, Scan, ScopeQuery, Search, StoreError, Touch, Whole, Write,
    },
    telemetry::Metrics,
};

/// When a store is checked, and how long that may take.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// A store that has not answered a check within this is away, as if it had refused.
    answer: Duration,
    /// The pause between two checks of a store that works and that nobody doubts: so old the
    /// figure `memgate_store_up` can be.
    period: Duration,
    /// The least pause between two checks of a store that works, however many doubt it.
    least: Duration,
    /// The pause before a store that is away is checked again; it doubles …
    first: Duration,
    /// … up to this: so late it may be noticed that it is back.
    longest: Duration,
}

/// So many times as long a check may take of a store that is yet to be reached: a server may have
/// to make, or to load, all that it is asked for.
const REACHING: u32 = 6;

impl Default for Pace {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            period: Duration::from_secs(10),
            least: Duration::from_millis(250),
            first: Duration::from_millis(250),
            longest: Duration::from_secs(5),
        }
    }
}

/// A store with somebody who watches it.
pub struct Watched {
    store: Arc<dyn MemoryStore>,
    name: &'static str,
    metrics: Arc<Metrics>,
    pace: Pace,
    standing: watch::Sender<Standing>,
    /// Told when something that was asked gives reason to check the store.
    doubted: Notify,
}

/// Where a store stands.
#[derive(Clone, Debug, PartialEq)]
enum Standing {
    /// It was not checked yet.
    Unknown,
    Up,
    /// It cannot be reached, and why.
    Away(String),
    Closed,
}

/// What a check tells that was not known.
#[derive(Clone, Debug, PartialEq)]
enum News {
    Gone(String),
    /// For another reason than before.
    StillAway(String),
    Back,
}

impl Standing {
    /// What whoever asks is told now; nothing as long as the store may be asked, or may be soon.
    fn refusal(&self) -> Option<StoreError> {
        match self {
            Self::Unknown | Self::Up => None,
            Self::Away(cause) => Some(StoreError::Unavailable(cause.clone())),
            Self::Closed => Some(StoreError::Unavailable("is closed".to_owned())),
        }
    }
}

impl Watched {
    /// The store under the name that messages call it by. One that was not reached yet takes no
    /// work before its first check.
    #[must_use]
    pub fn new(store: Arc<dyn MemoryStore>, name: &'static str, metrics: Arc<Metrics>) -> Self {
        Self::at_pace(store, name, metrics, Pace::default())
    }

    fn at_pace(
        store: Arc<dyn MemoryStore>,
        name: &'static str,
        metrics: Arc<Metrics>,
        pace: Pace,
    ) -> Self {
        let up = store.is_enabled();
        metrics.set_store_up(up);
        let standing = watch::Sender::new(if up { Standing::Up } else { Standing::Unknown });
        Self { store, name, metrics, pace, standing, doubted: Notify::new() }
    }

    /// Watches the store until it is closed. To be run once.
    pub async fn watch(&self) {
        let Pace { period, least, first, longest, .. } = self.pace;
        let mut pause = first;
        loop {
            let verdict = tokio::select! {
                () = self.closed() => return,
                verdict = self.check() => verdict,
            };
            let away = is_away(&verdict);
            let wait = if away { pause } else { period };
            pause = if away { (pause * 2).min(longest) } else { first };
            let doubted = async {
                sleep(least).await;
                self.doubted.notified().await;
            };
            tokio::select! {
                () = self.closed() => return,
                () = sleep(wait) => {}
                () = doubted, if !away => {}
            }
        }
    }

    async fn closed(&self) {
        self.reaches(|standing| *standing == Standing::Closed).await;
    }

    async fn reaches(&self, wanted: impl FnMut(&Standing) -> bool) {
        // It fails when the sender is gone, which is here.
        let _ = self.standing.subscribe().wait_for(wanted).await;
    }

    /// Takes note of what a check gave; tells what is new by it.
    fn judge(&self, verdict: &Result<(), StoreError>) -> Option<News> {
        let new = match verdict {
            Err(StoreError::Unavailable(cause)) => Standing::Away(cause.clone()),
            // A store with too much to do answers, if only that.
            _ => Standing::Up,
        };
        let mut before = None;
        self.standing.send_if_modified(|standing| {
            if *standing == Standing::Closed || *standing == new {
                return false;
            }
            before = Some(std::mem::replace(standing, new.clone()));
            true
        });
        let before = before?;
        self.metrics.set_store_up(new == Standing::Up);
        match (before, new) {
            (Standing::Away(_), Standing::Away(cause)) => Some(News::StillAway(cause)),
            (_, Standing::Away(cause)) => Some(News::Gone(cause)),
            (Standing::Away(_), _) => Some(News::Back),
            _ => None,
        }
    }

    fn say(&self, news: &News) {
        match news {
            News::Gone(cause) => {
                tracing::error!(cause, "{} unavailable, memory disabled", self.name);
            }
            News::StillAway(cause) => tracing::debug!(cause, "the store is still away"),
            News::Back => tracing::info!("{} available, memory enabled", self.name),
        }
    }

    /// Asks the store, if it is there, for as long as it is.
    async fn ask<T>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let mut standing = self.standing.subscribe();
        refusal(&mut standing, |standing| *standing != Standing::Unknown).await?;
        let mut doubt = Doubt { told: Some(&self.doubted) };
        let outcome = tokio::select! {
            biased;
            outcome = asked => outcome,
            Err(gone) = refusal(&mut standing, |standing| standing.refusal().is_some()) => Err(gone),
        };
        if !is_away(&outcome) {
            doubt.told = None;
        }
        outcome
    }
}

/// Waits until a store stands as wanted; fails where it then is not there.
async fn refusal(
    standing: &mut watch::Receiver<Standing>,
    wanted: impl FnMut(&Standing) -> bool,
) -> Result<(), StoreError> {
    match standing.wait_for(wanted).await {
        Ok(standing) => standing.refusal().map_or(Ok(()), Err),
        Err(_) => Err(StoreError::Unavailable("is closed".to_owned())),
    }
}

fn is_away<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

/// Has the store checked when what was asked of it came to nothing, or nobody waited any longer.
struct Doubt<'a> {
    told: Option<&'a Notify>,
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(told) = self.told {
            told.notify_one();
        }
    }
}

#[async_trait]
impl MemoryStore for Watched {
    async fn store(
        &self,
        memory: Memory,
        vectors: Vec<Embedding>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        self.ask(self.store.store(memory, vectors, write)).await
    }

    async fn retrieve(&self, search: &Search) -> Result<Vec<Evidence>, StoreError> {
        self.ask(self.store.retrieve(search)).await
    }

    async fn get(
        &self,
        owner: &Owner,
        id: &MemoryId,
        now: Timestamp,
    ) -> Result<Memory, StoreError> {
        self.ask(self.store.get(owner, id, now)).await
    }

    async fn update(
        &self,
        memory: Memory,
        vectors: Option<Vec<Embedding>>,
        write: &Write,
    ) -> Result<Memory, StoreError> {
        self.ask(self.store.update(memory, vectors, write)).await
    }

    async fn amend(&self, memory: Memory) -> Result<(), StoreError> {
        self.ask(self.store.amend(memory)).await
    }

    async fn history(&self, owner: &Owner, id: &MemoryId) -> Result<Vec<Memory>, StoreError> {
        self.ask(self.store.history(owner, id)).await
    }

    async fn forget(&self, owner: &Owner, id: &MemoryId, write: &Write) -> Result<u64, StoreError> {
        self.ask(self.store.forget(owner, id, write)).await
    }

    async fn forget_all(
        &self,
        owner: &Owner,
        ids: &[MemoryId],
        write: &Write,
    ) -> Result<u64, StoreError> {
        self.ask(self.store.forget_all(owner, ids, write)).await
    }

    async fn forget_history(
        &self,
        owner: &Owner,
        id: &MemoryId,
        write: &Write,
    ) -> Result<u64, StoreError> {
        self.ask(self.store.forget_history(owner, id, write)).await
    }

    async fn forget_by_scope(&self, scope: &ForgetScope, write: &Write) -> Result<u64, StoreError> {
        self.ask(self.store.forget_by_scope(scope, write)).await
    }

    async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.ask(self.store.list(query)).await
    }

    async fn count(
        &self,
        scope: &ScopeQuery,
        filter: Option<&Filter>,
        space: &str,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        self.ask(self.store.count(scope, filter, space, now)).await
    }

    async fn touch(&self, touches: &[Touch]) -> Result<(), StoreError> {
        self.ask(self.store.touch(touches)).await
    }

    async fn unembedded(&self, space: &str, limit: usize) -> Result<Vec<Memory>, StoreError> {
        self.ask(self.store.unembedded(space, limit)).await
    }

    async fn embed(
        &self,
        owner: &Owner,
        id: &MemoryId,
        version: u32,
        vectors: Vec<Embedding>,
    ) -> Result<(), StoreError> {
        self.ask(self.store.embed(owner, id, version, vectors)).await
    }

    async fn scan(
        &self,
        owner: Option<&Owner>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Scan, StoreError> {
        self.ask(self.store.scan(owner, after, limit)).await
    }

    async fn restore(&self, whole: Whole, write: &Write) -> Result<Restored, StoreError> {
        self.ask(self.store.restore(whole, write)).await
    }

    async fn use_space(&self, space: &str) -> Result<(), StoreError> {
        self.ask(self.store.use_space(space)).await
    }

    async fn clear(&self, write: &Write) -> Result<(), StoreError> {
        self.ask(self.store.clear(write)).await
    }

    /// Asks the store itself, also while it is away; what it gives holds for everybody.
    async fn check(&self) -> Result<(), StoreError> {
        // Reaching it anew may be much work, and nobody else waits for that.
        let answer = self.pace.answer * if self.is_enabled() { 1 } else { REACHING };
        let verdict = timeout(answer, self.store.check()).await.unwrap_or_else(|_| {
            let cause = format!("no answer within {} ms", answer.as_millis());
            Err(StoreError::Unavailable(cause))
        });
        if let Some(news) = self.judge(&verdict) {
            self.say(&news);
        }
        verdict
    }

    fn is_enabled(&self) -> bool {
        *self.standing.borrow() == Standing::Up
    }

    async fn back(&self) {
        self.reaches(|standing| *standing == Standing::Up).await;
    }

    async fn close(&self) {
        self.standing.send_replace(Standing::Closed);
        self.store.close().await;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests;

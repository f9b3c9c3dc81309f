//! Monitors the availability of a store. One task checks it; while it is unavailable all operations
//! fail at once. Each outage is logged once.
//!
//! It must not depend on which store it monitors, or on the operations.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use memgate_core::{
    memory::{MemoryStore, StoreError},
    wrap_memory_store,
};
use memgate_telemetry::Metrics;

/// Timing of the checks.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// Timeout of a check, after which the store counts as unavailable.
    answer: Duration,
    /// Interval between two checks of a working store; also the maximum age of `memgate_store_up`.
    period: Duration,
    /// Minimum interval between two checks of a working store, however many operations fail.
    least: Duration,
    /// First pause before an unavailable store is checked again; doubles with each check.
    first: Duration,
    /// Maximum pause, which bounds how late a recovery is noticed.
    longest: Duration,
}

/// Factor on the timeout for a store that was not reached yet: a server may first have to create or
/// load collections.
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

/// A store whose availability is monitored.
pub struct MonitoredStore {
    store: Arc<dyn MemoryStore>,
    name: &'static str,
    metrics: Arc<Metrics>,
    pace: Pace,
    availability: watch::Sender<Availability>,
    /// Notified when a failed operation is a reason to check the store.
    doubted: Notify,
}

/// Availability of a store.
#[derive(Clone, Debug, PartialEq)]
enum Availability {
    /// Not checked yet.
    Unknown,
    Up,
    /// Unavailable, with the cause.
    Unavailable(String),
    Closed,
}

/// A change found by a check.
#[derive(Clone, Debug, PartialEq)]
enum News {
    Gone(String),
    /// Unavailable for another reason than before.
    StillUnavailable(String),
    Back,
}

impl Availability {
    /// The error callers get while the store is unavailable; `None` otherwise.
    fn refusal(&self) -> Option<StoreError> {
        match self {
            Self::Unknown | Self::Up => None,
            Self::Unavailable(cause) => Some(StoreError::Unavailable(cause.clone())),
            Self::Closed => Some(StoreError::Unavailable("is closed".to_owned())),
        }
    }
}

impl MonitoredStore {
    /// Wraps a store; `name` is used in messages. A store that was not reached yet gets no work
    /// before its first check.
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
        let availability =
            watch::Sender::new(if up { Availability::Up } else { Availability::Unknown });
        Self { store, name, metrics, pace, availability, doubted: Notify::new() }
    }

    /// Monitors the store until it is closed. Run it once.
    pub async fn monitor(&self) {
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
        self.reaches(|availability| *availability == Availability::Closed).await;
    }

    async fn reaches(&self, wanted: impl FnMut(&Availability) -> bool) {
        // This fails only if the sender is gone, but `self` holds it.
        let _ = self.availability.subscribe().wait_for(wanted).await;
    }

    /// Records the result of a check; returns what changed.
    fn judge(&self, verdict: &Result<(), StoreError>) -> Option<News> {
        let new = match verdict {
            Err(StoreError::Unavailable(cause)) => Availability::Unavailable(cause.clone()),
            // A busy store is available.
            _ => Availability::Up,
        };
        let mut before = None;
        self.availability.send_if_modified(|availability| {
            if *availability == Availability::Closed || *availability == new {
                return false;
            }
            before = Some(std::mem::replace(availability, new.clone()));
            true
        });
        let before = before?;
        self.metrics.set_store_up(new == Availability::Up);
        match (before, new) {
            (Availability::Unavailable(_), Availability::Unavailable(cause)) => {
                Some(News::StillUnavailable(cause))
            }
            (_, Availability::Unavailable(cause)) => Some(News::Gone(cause)),
            (Availability::Unavailable(_), _) => Some(News::Back),
            _ => None,
        }
    }

    fn say(&self, news: &News) {
        match news {
            News::Gone(cause) => {
                tracing::error!(cause, "{} unavailable, memory disabled", self.name);
            }
            News::StillUnavailable(cause) => {
                tracing::debug!(cause, "the store is still unavailable")
            }
            News::Back => tracing::info!("{} available, memory enabled", self.name),
        }
    }

    /// Runs an operation if the store is available, for as long as it stays available.
    async fn ask<T>(
        &self,
        asked: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let mut availability = self.availability.subscribe();
        refusal(&mut availability, |availability| *availability != Availability::Unknown).await?;
        let mut doubt = Doubt { told: Some(&self.doubted) };
        let outcome = tokio::select! {
            biased;
            outcome = asked => outcome,
            Err(gone) = refusal(&mut availability, |availability| availability.refusal().is_some()) => Err(gone),
        };
        if !is_away(&outcome) {
            doubt.told = None;
        }
        outcome
    }
}

/// Waits for a state of the store; fails if the store is unavailable then.
async fn refusal(
    availability: &mut watch::Receiver<Availability>,
    wanted: impl FnMut(&Availability) -> bool,
) -> Result<(), StoreError> {
    match availability.wait_for(wanted).await {
        Ok(availability) => availability.refusal().map_or(Ok(()), Err),
        Err(_) => Err(StoreError::Unavailable("is closed".to_owned())),
    }
}

fn is_away<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Unavailable(_)))
}

/// Triggers a check when an operation failed or its caller stopped waiting.
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

wrap_memory_store! {
    MonitoredStore, read: ask, change: ask,

    async fn use_space(&self, space: &str) -> Result<(), StoreError> {
        self.ask(self.store.use_space(space)).await
    }

    /// Checks the store even while it is unavailable; the result applies to all callers.
    async fn check(&self) -> Result<(), StoreError> {
        // Connecting again may take long, and no other caller waits for it.
        let answer = self.pace.answer * if self.is_enabled() { 1 } else { REACHING };
        let verdict = timeout(answer, self.store.check()).await.unwrap_or_else(|_| {
            let cause = format!("no response within {} ms", answer.as_millis());
            Err(StoreError::Unavailable(cause))
        });
        if let Some(news) = self.judge(&verdict) {
            self.say(&news);
        }
        verdict
    }

    fn is_enabled(&self) -> bool {
        *self.availability.borrow() == Availability::Up
    }

    async fn back(&self) {
        self.reaches(|availability| *availability == Availability::Up).await;
    }

    async fn close(&self) {
        self.availability.send_replace(Availability::Closed);
        self.store.close().await;
    }
}

#[cfg(test)]
mod tests;

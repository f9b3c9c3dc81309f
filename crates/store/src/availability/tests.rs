use std::{
    sync::atomic::Ordering::SeqCst,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use crate::{
    InMemoryStore,
    availability::*,
    conformance::{SEQUENCES, conforms},
};
use memgate_core::{
    clock::Clock,
    memory::{ListQuery, Memory, MemoryId, MemoryType, Owner, Page, ScopeQuery, Source, Write},
};
use memgate_testing::{FaultyStore, Mode};

conforms!(
    async {
        let (name, metrics) = ("Store", Metrics::new());
        (MonitoredStore::new(Arc::new(InMemoryStore::new()), name, metrics), ())
    },
    SEQUENCES
);

/// Long enough for two busy cores and for a store that does not answer.
const PATIENCE: Duration = Duration::from_secs(30);

struct House {
    switch: Arc<FaultyStore>,
    store: Arc<MonitoredStore>,
    metrics: Arc<Metrics>,
    watching: JoinHandle<()>,
}

const PACE: Pace = Pace {
    answer: Duration::from_millis(500),
    period: Duration::from_millis(100),
    least: Duration::from_millis(5),
    first: Duration::from_millis(10),
    longest: Duration::from_millis(80),
};

impl House {
    fn new(mode: Mode) -> Self {
        // Only failed operations trigger checks.
        Self::at_pace(mode, Pace { period: PATIENCE * 2, ..PACE })
    }

    fn at_pace(mode: Mode, pace: Pace) -> Self {
        let (switch, metrics) =
            (FaultyStore::new(Arc::new(InMemoryStore::new()), mode), Metrics::new());
        let store =
            Arc::new(MonitoredStore::at_pace(switch.clone(), "Milvus", metrics.clone(), pace));
        let watching = tokio::spawn({
            let store = store.clone();
            async move { store.monitor().await }
        });
        Self { switch, store, metrics, watching }
    }

    fn is_shown_up(&self) -> bool {
        self.metrics.encode().lines().any(|line| line == "memgate_store_up 1")
    }

    async fn list(&self) -> Result<Page, StoreError> {
        let scope = ScopeQuery::of(owner());
        let now = Clock::System.now();
        self.store.list(&ListQuery { scope, filter: None, limit: 1, cursor: None, now }).await
    }

    /// Waits until the store is found unavailable.
    async fn away(&self) {
        let away =
            self.store.reaches(|availability| matches!(availability, Availability::Unavailable(_)));
        tokio::time::timeout(PATIENCE, away).await.unwrap();
    }

    async fn back(&self) {
        tokio::time::timeout(PATIENCE, self.store.back()).await.unwrap();
    }

    async fn close(self) {
        self.store.close().await;
        tokio::time::timeout(PATIENCE, self.watching).await.unwrap().unwrap();
    }
}

fn owner() -> Owner {
    Owner::of_user("alice").unwrap()
}

fn note() -> Memory {
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let id = MemoryId::from_outside("m");
    Memory::new(id, owner(), kind, "x", Source::ExplicitUserInput, Clock::System.now())
}

#[tokio::test]
async fn operations_wait_for_the_first_check() {
    let house = House::new(Mode::Refuses);
    assert!(!house.store.is_enabled());
    let refused = house.list().await;
    assert!(is_away(&refused), "{refused:?}");
    assert!(!house.is_shown_up());
    house.switch.set(Mode::Works);
    house.back().await;
    assert!(house.store.is_enabled() && house.is_shown_up());
    house.list().await.unwrap();
    house.close().await;
}

#[tokio::test]
async fn an_unavailable_store_is_not_called_and_recovers() {
    let house = House::new(Mode::Works);
    house.switch.set(Mode::Refuses);
    assert!(is_away(&house.list().await));
    house.away().await;
    assert!(!house.store.is_enabled() && !house.is_shown_up());
    let asked = house.switch.refused.load(SeqCst);
    for _ in 0..100 {
        assert!(is_away(&house.list().await));
    }
    assert_eq!(house.switch.refused.load(SeqCst), asked);
    house.switch.set(Mode::Works);
    house.back().await;
    house.list().await.unwrap();
    house.close().await;
}

#[test]
fn an_outage_and_its_end_are_logged_once() {
    let store = MonitoredStore::new(Arc::new(InMemoryStore::new()), "Milvus", Metrics::new());
    let away = |cause: &str| Err(StoreError::Unavailable(cause.to_owned()));
    for _ in 0..2 {
        for (verdict, expected) in [
            (Ok(()), None),
            (away("a"), Some(News::Gone("a".into()))),
            (away("a"), None),
            (away("b"), Some(News::StillUnavailable("b".into()))),
            (Err(StoreError::Busy("much to do")), Some(News::Back)),
            (Ok(()), None),
        ] {
            assert_eq!(store.judge(&verdict), expected, "{verdict:?}");
        }
    }
}

#[tokio::test]
async fn the_next_check_finds_an_outage_without_operations() {
    let house = House::at_pace(Mode::Works, PACE);
    house.switch.set(Mode::Refuses);
    house.away().await;
    assert!(!house.is_shown_up());
    house.switch.set(Mode::Works);
    house.back().await;
    assert!(house.is_shown_up());
    house.close().await;
}

#[tokio::test]
async fn checks_of_an_unavailable_store_back_off() {
    let (house, started) = (House::at_pace(Mode::Refuses, PACE), Instant::now());
    while house.switch.checked.load(SeqCst) < 7 {
        tokio::task::yield_now().await;
    }
    // 10, 20, 40 and then three times 80.
    assert!(started.elapsed() >= Duration::from_millis(310));
    house.close().await;
}

#[tokio::test]
async fn a_hanging_store_is_unavailable_after_the_timeout_and_callers_are_released() {
    let house = House::new(Mode::Works);
    house.list().await.unwrap();
    house.switch.set(Mode::Hangs);
    // The caller gives up so early that it triggers a check.
    let glance = tokio::time::timeout(Duration::from_millis(20), house.list()).await;
    assert!(glance.is_err());
    let refused = tokio::time::timeout(PATIENCE, house.list()).await.unwrap();
    assert!(is_away(&refused), "{refused:?}");
    assert!(is_away(&house.list().await));
    house.switch.set(Mode::Works);
    house.back().await;
    house.close().await;
}

#[tokio::test]
async fn a_busy_or_partially_failing_store_is_available() {
    let house = House::new(Mode::Works);
    for mode in [Mode::ReadsOnly, Mode::Busy] {
        house.switch.set(mode);
        let checked = house.switch.checked.load(SeqCst);
        let write = Write::by(memgate_core::memory::Actor::Api, "test");
        house.store.store(note(), Vec::new(), &write).await.unwrap_err();
        house.store.check().await.unwrap();
        assert!(house.store.is_enabled(), "{mode:?}");
        assert!(house.switch.checked.load(SeqCst) > checked);
    }
    house.close().await;
}

#[tokio::test]
async fn the_result_of_a_check_applies_to_all_callers() {
    let house = House::new(Mode::Works);
    house.switch.set(Mode::Refuses);
    house.store.check().await.unwrap_err();
    assert!(!house.store.is_enabled());
    house.switch.set(Mode::Works);
    house.store.check().await.unwrap();
    assert!(house.store.is_enabled());
    house.close().await;
}

#[tokio::test]
async fn closing_a_store_is_not_an_outage() {
    let house = House::new(Mode::Works);
    house.store.close().await;
    house.store.check().await.unwrap_err();
    assert!(house.is_shown_up() && !house.store.is_enabled());
    house.switch.set(Mode::Works);
    house.close().await;
}

//! The queue and its scribe on a real journal, with a screening that the test controls.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    intake::{Exchanges, Intake, Scribe, screened},
    journal::{Journal, list_turns},
    settings::Live,
    test_support::{owner, said, settings},
    trail::TurnTrail,
    turn::FinishedTurn,
};
use memgate_core::clock::Clock;
use memgate_sqlite::Options;
use memgate_telemetry::Metrics;

/// Long enough for a machine that does much else; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

struct Desk {
    intake: Intake,
    journal: Arc<Journal>,
    metrics: Arc<Metrics>,
    exchanges: Arc<Exchanges>,
    wake: Arc<Notify>,
    _folder: tempfile::TempDir,
}

impl Desk {
    /// A desk whose screening does `before` with each message first.
    fn new(before: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal.db");
        let journal = Arc::new(Journal::open(&file, Options::default(), Clock::System).unwrap());
        let (metrics, wake) = (Metrics::new(), Arc::new(Notify::new()));
        let scribe = Scribe {
            journal: journal.clone(),
            live: Arc::new(Live::new(settings(None))),
            metrics: metrics.clone(),
            trail: TurnTrail::off(),
            wake: wake.clone(),
            screen: Arc::new(move |turn: FinishedTurn, screener, tools| {
                before(&turn.user_text);
                screened(turn, screener, tools)
            }),
            refused: false.into(),
        };
        let (intake, writing) = Intake::new(64, scribe, CancellationToken::new());
        tokio::spawn(writing);
        Self { intake, journal, metrics, exchanges: Arc::default(), wake, _folder: folder }
    }

    fn offer(&self, user: &str, number: u32, text: &str) {
        self.intake.offer(said(user, number, text).session("s").turn(), self.exchanges.begin());
    }

    /// The messages of a user in the journal, oldest first.
    async fn messages(&self, user: &str) -> Vec<String> {
        let of = owner(user);
        let read = self.journal.read(move |c| list_turns(c, &of, "s", None, 100));
        let newest_first = read.await.unwrap().unwrap_or_default();
        newest_first.into_iter().rev().map(|turn| turn.user_text).collect()
    }
}

#[tokio::test]
async fn a_turn_whose_screening_panics_is_not_stored_and_all_others_are() {
    let desk = Desk::new(|text| assert!(!text.contains("boom"), "of a test"));
    for (n, owned) in (1..).zip(["a bike", "boom", "舟"]) {
        desk.offer("alice", n, &format!("I own boat number {n}"));
        desk.offer("bob", n, &format!("I own {owned} number {n}"));
        desk.offer("carol", n, "boom");
    }
    desk.intake.barrier().await;
    assert_eq!(desk.messages("alice").await.len(), 3);
    assert_eq!(desk.messages("bob").await, ["I own a bike number 1", "I own 舟 number 3"]);
    assert!(desk.messages("carol").await.is_empty());
    let shown = desk.metrics.encode();
    for line in [
        "memgate_panics_total{part=\"capture\"} 4",
        "memgate_capture_dropped_total{reason=\"panicked\"} 4",
        "memgate_turns_journaled_total 5",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "no {line} in {shown}");
    }
    // The exchanges of the turns that were not stored have ended, too.
    assert_eq!(desk.exchanges.count(&owner("carol")), 0);
}

#[tokio::test]
async fn a_text_that_is_screened_slowly_holds_up_its_own_user_and_nobody_else() {
    let (go, wait) = mpsc::sync_channel::<()>(1);
    let wait = Mutex::new(wait);
    let desk = Desk::new(move |text| {
        if text.contains("slow") {
            // Until the sender is gone.
            let _ = wait.lock().unwrap().recv();
        }
    });
    desk.offer("mallory", 1, "slow");
    for n in 2..=9 {
        desk.offer("mallory", n, &format!("I own goat number {n}"));
    }
    for (n, user) in (1..).zip(["alice", "bob", "alice"]) {
        desk.offer(user, n, "I moved to Lyon");
    }
    let others = async {
        while desk.messages("alice").await.len() + desk.messages("bob").await.len() < 3 {
            desk.wake.notified().await;
        }
    };
    timeout(PATIENCE, others).await.unwrap();
    assert!(desk.messages("mallory").await.is_empty(), "turns of one user keep their order");
    drop(go);
    desk.intake.barrier().await;
    let messages = desk.messages("mallory").await;
    assert_eq!(messages.len(), 9);
    assert!(messages.is_sorted_by_key(|text| text != "slow") && messages[8].ends_with('9'));
}

#[tokio::test]
async fn a_barrier_waits_for_each_turn_that_was_offered_before_it() {
    let (go, wait) = mpsc::sync_channel::<()>(1);
    let wait = Mutex::new(wait);
    let desk = Desk::new(move |text| {
        if text.contains("slow") {
            let _ = wait.lock().unwrap().recv();
        }
    });
    desk.intake.barrier().await;
    desk.offer("alice", 1, "slow");
    desk.offer("alice", 2, "slow again");
    desk.offer("bob", 1, "I moved to Lyon");
    let barrier = desk.intake.barrier();
    tokio::pin!(barrier);
    assert!(barrier.as_mut().now_or_never().is_none());
    while desk.messages("bob").await.is_empty() {
        assert!(barrier.as_mut().now_or_never().is_none());
        desk.wake.notified().await;
    }
    go.send(()).unwrap();
    while desk.messages("alice").await.is_empty() {
        desk.wake.notified().await;
    }
    assert!(barrier.as_mut().now_or_never().is_none(), "the second turn is on its way");
    go.send(()).unwrap();
    barrier.await;
    assert_eq!(desk.messages("alice").await.len(), 2);
}

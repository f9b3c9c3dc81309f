//! Learning while the store cannot be reached, and when its answers are lost.

use std::{sync::OnceLock, time::Instant};

use futures_util::StreamExt as _;

use crate::{
    journal::JobKind,
    service::tests::{
        facts::{facts, model},
        *,
    },
    test_support::said,
};
use memgate_core::memory::{Filter, Status};
use memgate_store::MonitoredStore;
use memgate_testing::{FaultyStore, Mode};

/// A house whose store can be switched off.
struct Outage {
    house: House,
    switch: Arc<FaultyStore>,
    watching: tokio::task::JoinHandle<()>,
}

impl Outage {
    fn new(mode: Mode) -> Self {
        Self::with(mode, settings(None), Doll::new(true))
    }

    fn with(mode: Mode, settings: Settings, doll: Arc<Doll>) -> Self {
        let (folder, parts) = (Arc::new(tempfile::tempdir().unwrap()), OnceLock::new());
        let bounds = Bounds { queue: 64, workers: 2 };
        let house = House::behind(folder, settings, doll, bounds, |store, metrics| {
            let switch = FaultyStore::new(store, mode);
            let watched = Arc::new(MonitoredStore::new(switch.clone(), "Store", metrics.clone()));
            parts.set((switch, watched.clone())).unwrap_or_else(|_| unreachable!());
            watched
        });
        let (switch, watched) = parts.into_inner().unwrap();
        let watching = tokio::spawn(async move { watched.monitor().await });
        Self { house, switch, watching }
    }

    /// Everybody says a fact.
    async fn say(&self, ordinal: u32) {
        for user in USERS {
            self.house.offer(said(user, ordinal, &format!("{user} has fact number {ordinal}")));
        }
        self.house.capture.intake.barrier().await;
    }

    /// Nobody has been learnt from twice, and nothing was given up or counted as a try.
    async fn all_is_learnt(&self, turns: usize) {
        for user in USERS {
            self.house.until_memories(user, turns).await;
            let flushed = self.house.flush(user).await;
            assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0), "{user}");
            let memories = self.house.memories(user).await;
            assert_eq!(memories.len(), turns, "{memories:?}");
            assert!(memories.iter().all(|memory| memory.version == 1));
        }
        let shown = self.house.metrics.encode();
        assert!(!shown.contains(r#"outcome="retry""#) && !shown.contains(r#"outcome="dead""#));
    }

    async fn flush(&self, patience: Duration) -> Flushed {
        self.house.capture.flush(&owner("alice"), patience).await.unwrap()
    }

    /// The most tries of a job, and one of the reasons for waiting.
    async fn tries_and_reason(&self) -> (u32, Option<String>) {
        let read = self.house.capture.parts.journal.read(|c| {
            c.query_row("SELECT max(tries), max(last_error) FROM jobs", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
        });
        read.await.unwrap()
    }
}

impl Drop for Outage {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

const USERS: [&str; 4] = ["alice", "bob", "carol", "dave"];

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_before_the_store_was_ever_reached_is_learnt_when_it_is() {
    let outage = Outage::new(Mode::Refuses);
    for ordinal in 1..=5 {
        outage.say(ordinal).await;
    }
    assert!(outage.house.shows("memgate_turns_journaled_total 20"));
    let flushed = outage.flush(Duration::from_secs(1)).await;
    assert_eq!((flushed.jobs_done, flushed.jobs_pending, flushed.jobs_dead), (0, 5, 0));
    assert_eq!(outage.switch.refused.load(Ordering::SeqCst), 0, "nobody asks it but the watcher");
    outage.switch.set(Mode::Works);
    outage.all_is_learnt(5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_costs_no_job_a_try_and_no_job_hammers_a_store_that_is_away() {
    let outage = Outage::new(Mode::Works);
    outage.say(1).await;
    for user in USERS {
        outage.house.until_memories(user, 1).await;
    }
    outage.switch.set(Mode::Refuses);
    for ordinal in 2..=6 {
        outage.say(ordinal).await;
    }
    let checks = || outage.switch.checked.load(Ordering::SeqCst);
    let before = checks();
    eventually(|| async { (checks() > before + 2).then_some(()) }).await;
    assert!(outage.switch.refused.load(Ordering::SeqCst) <= 4, "as many as run at one time");
    assert_eq!(outage.tries_and_reason().await.0, 0);
    outage.switch.set(Mode::Works);
    outage.all_is_learnt(6).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_hangs_keeps_a_flush_no_longer_than_it_may_take() {
    let outage = Outage::new(Mode::Works);
    outage.switch.set(Mode::Hangs);
    outage.say(1).await;
    let started = Instant::now();
    assert_eq!(outage.flush(Duration::from_secs(1)).await.jobs_pending, 1);
    assert!(started.elapsed() < Duration::from_secs(30), "the store hangs for good");
    outage.switch.set(Mode::Works);
    outage.all_is_learnt(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_answers_and_takes_nothing_is_waited_for_with_its_reason() {
    for (mode, expected) in
        [(Mode::ReadsOnly, "store unavailable: switched off"), (Mode::Busy, "the store is busy")]
    {
        let outage = Outage::new(Mode::Works);
        outage.switch.set(mode);
        outage.say(1).await;
        let told = || async { outage.tries_and_reason().await.1 };
        assert!(eventually(told).await.starts_with(expected));
        assert_eq!(outage.tries_and_reason().await.0, 0);
        let line = r#"memgate_job_runs_total{kind="store_turn",outcome="postponed"}"#;
        assert!(outage.house.metrics.encode().contains(line));
        outage.switch.set(Mode::Works);
        outage.all_is_learnt(1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_to_be_forgotten_while_the_store_is_away_is_forgotten_when_it_is_back() {
    let outage = Outage::new(Mode::Works);
    outage.house.offer(said("alice", 1, "My dog is called Rex"));
    outage.house.until_memories("alice", 1).await;
    outage.switch.set(Mode::Refuses);
    outage.house.offer(said("alice", 2, "Forget that my dog is called Rex."));
    outage.house.capture.intake.barrier().await;
    outage.switch.set(Mode::Works);
    outage.house.flush("alice").await;
    assert!(outage.house.contents("alice").await.is_empty());
}

/// A memory without its id and times.
type Told = (String, String, u32, Status, String, usize);

/// Everything that jobs do to a store, each after the other: turns, statements, facts of a model,
/// corrections, orders, missing vectors, and the summary of a session.
async fn life(lost: Option<(usize, Mode)>) -> (Vec<Told>, usize) {
    let (helper, _model) = model([
        facts(&["The user lives in Lyon", "The user owns a grey boat"]),
        facts(&["The user moved to Turin", "The user owns a grey boat"]),
    ])
    .await;
    let sessions = SessionRules { summaries: true, ..SessionRules::default() };
    // Both ways of forgetting: hidden, and a moment later erased.
    let forget_grace = Duration::from_millis(1);
    let settings =
        Settings { extract_locally: true, sessions, forget_grace, ..settings(Some(helper)) };
    let doll = Doll::new(true);
    let outage = Outage::with(Mode::Works, settings, doll.clone());
    if let Some((number, after)) = lost {
        outage.switch.lose_answer(number, after);
    }
    // A store that refuses is back at once.
    let reviving = tokio::spawn({
        let switch = outage.switch.clone();
        async move {
            while !switch.is(Mode::Refuses) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            switch.set(Mode::Works);
        }
    });
    let texts = [
        (1, "I live in Lyon with my sister Anna."),
        (2, "My dog is called Rex."),
        (3, "I moved to Turin last week."),
        (4, "Remember that I'm allergic to peanuts."),
        (5, "I'm allergic to peanuts."),
        (6, "Forget that my dog is called Rex."),
        (7, "My boat is called Halcyon."),
        (8, "Call me Sam."),
        (9, "Call me Max."),
        // An edited message.
        (4, "Remember that I'm allergic to walnuts."),
    ];
    for ((ordinal, text), step) in texts.into_iter().zip(0..) {
        doll.broken.store(ordinal == 7, Ordering::SeqCst);
        let before = texts.iter().find(|(place, _)| *place + 1 == ordinal).map(|(_, text)| *text);
        outage.house.offer(said("alice", ordinal, text).session("s").before(before).at(10 * step));
        outage.house.capture.intake.barrier().await;
        let done = || async {
            let left =
                outage.house.capture.parts.journal.read(|c| journal::of_owner(c, &owner("alice")));
            let left = left.await.unwrap();
            assert!(left.dead.is_empty(), "{lost:?} {text}");
            // Without vectors some jobs wait until there are some again.
            (left.pending.is_empty() || ordinal == 7).then_some(())
        };
        eventually(done).await;
    }
    doll.broken.store(false, Ordering::SeqCst);
    let flushed = outage.house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0), "{lost:?}");
    let erased = || async {
        let left = outage.house.capture.forgettings(&owner("alice")).await.unwrap();
        left.is_empty().then_some(())
    };
    eventually(erased).await;
    // A summary that held an erased memory is made again.
    let flushed = outage.house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0), "{lost:?}");
    if let Some((number, _)) = lost {
        assert!(outage.switch.changes() > number, "no answer was lost: {lost:?}");
    }
    reviving.abort();
    assert!(!outage.house.metrics.encode().contains(r#"outcome="postponed""#), "{lost:?}");
    for kind in JobKind::ALL.iter().map(|kind| kind.name()) {
        let line = format!("kind=\"{kind}\",outcome=\"done\"");
        let needs_store = !["end_idle_session", "keep_session", "prune"].contains(&kind);
        assert!(!needs_store || outage.house.metrics.encode().contains(&line), "{kind}");
    }
    let query = ListQuery {
        scope: ScopeQuery::of(owner("alice")),
        filter: Some(Filter::Status(Status::ALL.to_vec())),
        limit: 100,
        cursor: None,
        now: outage.house.clock.now(),
    };
    let mut told = Vec::new();
    for memory in outage.house.store.list(&query).await.unwrap().memories {
        let again = memory.provenance.again.len();
        let reinforced = format!("{:?}", memory.metadata.get("reinforced"));
        let kind = memory.memory_type.to_string();
        told.push((
            kind,
            memory.text().into_owned(),
            memory.version,
            memory.status,
            reinforced,
            again,
        ));
    }
    told.sort_by(|a, b| (&a.0, &a.1, a.2).cmp(&(&b.0, &b.1, b.2)));
    (told, outage.switch.changes())
}

/// Lives at a time: each has a bound for its steps, which a machine with two cores must keep.
const AT_A_TIME: usize = 8;

#[tokio::test(flavor = "multi_thread")]
async fn whichever_answer_is_lost_the_same_memories_are_left() {
    let (expected, changes) = life(None).await;
    assert!(changes >= 15, "{changes}: {expected:#?}");
    // After the lost answer the store refuses for a moment, or works, in turn.
    let afters = [Mode::Refuses, Mode::Works].into_iter().cycle();
    let mut lives = futures_util::stream::iter((0..changes).zip(afters))
        .map(|lost| async move { (lost, tokio::spawn(life(Some(lost))).await.unwrap().0) })
        .buffer_unordered(AT_A_TIME);
    while let Some((lost, left)) = lives.next().await {
        assert_eq!(left, expected, "the answer to change {} was lost, then {:?}", lost.0, lost.1);
    }
}

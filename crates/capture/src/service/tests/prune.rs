//! The journal lets go of what was learnt.

use crate::{
    AnonymousBounds,
    service::tests::*,
    test_support::{at, said},
};
use memgate_core::memory::{Actor, Visibility, Write};

#[tokio::test(flavor = "multi_thread")]
async fn a_learnt_turn_leaves_the_journal_after_its_retention_and_its_memory_stays() {
    let kept = 30 * 24 * 3600;
    let retention = Retention { turns: Duration::from_secs(kept), ..Retention::default() };
    let (time, house) = House::with_settable_clock(Settings { retention, ..settings(None) });
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.flush("alice").await;
    time.set(at(kept.cast_signed() + 1));
    let line = "memgate_turns_pruned_total 1";
    eventually(async || house.shows(line).then_some(())).await;
    let left = |c: &rusqlite::Connection| {
        c.query_row(
            "SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM sessions)",
            [],
            |row| row.get::<_, i64>(0),
        )
    };
    assert_eq!(house.capture.parts.journal.read(left).await.unwrap(), 0);
    assert_eq!(house.contents("alice").await.len(), 1);
    // Forgetting the memory works without its turn.
    let versions = house.memories("alice").await;
    house.capture.forget_sources(&versions).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_a_user_has_its_bounds_and_leaves_nothing_behind() {
    let anonymous = AnonymousBounds { ttl: Duration::from_secs(600), memories: 2, sessions: 2 };
    let (time, house) = House::with_settable_clock(Settings { anonymous, ..settings(None) });
    let session = |id: &str| Owner::session("default", id).unwrap();
    let tell = async |second: i64, id: &str, ordinal: u32, text: &str| {
        time.set(at(second));
        let mut said = said("nobody", ordinal, text).at(second);
        said.of.owner = session(id);
        house.offer(said);
        house.capture.flush(&session(id), PATIENCE).await.unwrap();
    };
    let knows = async |id: &str, word: &str| {
        let memories = house.memories_of(session(id)).await;
        memories.iter().any(|memory| memory.content.contains(word))
    };
    house.offer(said("alice", 1, "I moved to Rome"));
    house.flush("alice").await;
    tell(0, "one", 1, "I moved to Lyon").await;
    tell(500, "one", 2, "I play the flute").await;
    tell(500, "two", 1, "I moved to Genoa").await;
    time.set(at(1_050));
    assert!(knows("one", "Lyon").await, "it lasts as long as the session");
    assert!(!knows("two", "Lyon").await && knows("two", "Genoa").await);
    tell(1_050, "one", 3, "I keep bees").await;
    assert!(knows("one", "bees").await && knows("one", "flute").await);
    assert!(!knows("one", "Lyon").await, "one too many");
    time.set(at(1_200));
    assert!(!knows("two", "Genoa").await);
    house.until_nowhere("Genoa").await;
    assert!(knows("one", "bees").await);
    time.set(at(2_000));
    let left = |c: &rusqlite::Connection| {
        c.query_row("SELECT count(*) FROM turns", [], |row| row.get::<_, i64>(0))
    };
    eventually(async || (house.capture.parts.journal.read(left).await.unwrap() == 1).then_some(()))
        .await;
    assert_eq!(house.contents("alice").await.len(), 1);
    tell(2_100, "three", 1, "I moved to Padua").await;
    tell(2_101, "four", 1, "I moved to Turin").await;
    tell(2_102, "five", 1, "I moved to Milan").await;
    time.set(at(2_200));
    house.until_nowhere("Padua").await;
    assert!(knows("four", "Turin").await && knows("five", "Milan").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_in_place_of_a_shared_memory_is_not_shared() {
    let house = House::new();
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.flush("alice").await;
    let memory = house.memories("alice").await.remove(0);
    let shared = Memory { visibility: Visibility::Public, ..memory };
    house.store.update(shared, None, &Write::by(Actor::Api, "test")).await.unwrap();
    house.offer(
        said("alice", 1, "I moved to Lyon").reply("Lyon has two rivers, the Rhone and the Saone."),
    );
    house.flush("alice").await;
    let memory = house.memories("alice").await.remove(0);
    assert_eq!((memory.version, memory.visibility), (3, Visibility::Private));
}

//! The journal lets go of what was learnt.

use crate::{
    service::tests::*,
    test_support::{at, said},
};

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

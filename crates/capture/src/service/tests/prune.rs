//! The journal lets go of what was learnt.

use crate::{service::tests::*, test_support::said};

#[tokio::test(flavor = "multi_thread")]
async fn without_retention_a_learnt_turn_leaves_the_journal_and_its_memory_stays() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let retention = Retention { turns: Duration::ZERO, ..Retention::default() };
    let settings = Settings { retention, ..settings(None) };
    let house = House::in_folder(folder, settings, Doll::new(true), 64);
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.flush("alice").await;
    let due = "UPDATE jobs SET due_at = 0 WHERE kind = 'prune'";
    house.capture.journal.write(move |c| c.execute(due, [])).await.unwrap();
    house.capture.wake.notify_one();
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !house.shows("memgate_turns_pruned_total 1") {
        let settled = house.capture.settled.notified();
        let _ = tokio::time::timeout(Duration::from_millis(50), settled).await;
        assert!(tokio::time::Instant::now() < deadline, "{}", house.metrics.encode());
    }
    let left = |c: &rusqlite::Connection| {
        c.query_row(
            "SELECT (SELECT count(*) FROM turns) + (SELECT count(*) FROM sessions)",
            [],
            |row| row.get::<_, i64>(0),
        )
    };
    assert_eq!(house.capture.journal.read(left).await.unwrap(), 0);
    assert_eq!(house.contents("alice").await.len(), 1);
    // Forgetting the memory works without its turn.
    let versions = house.memories("alice").await;
    house.capture.forget_sources(&versions).await.unwrap();
}

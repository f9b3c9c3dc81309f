//! Bounds, and a journal that cannot be written.

use crate::{service::tests::*, test_support::said};

#[tokio::test(flavor = "multi_thread")]
async fn over_the_bound_turns_are_shed_and_counted() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let house = House::in_folder(folder, settings(None), Doll::new(true), 4);
    let (go, wait) = std::sync::mpsc::sync_channel::<()>(1);
    let blocked = house.capture.parts.journal.write(move |_| {
        // Until the sender is gone.
        let _ = wait.recv();
        Ok(())
    });
    let blocking = async {
        for n in 1..=300 {
            house.offer(said("alice", n, &format!("Fact number {n} is true")));
        }
        drop(go);
    };
    let (result, ()) = tokio::join!(blocked, blocking);
    result.unwrap();
    house.flush("alice").await;
    let kept = house.counted("memgate_turns_journaled_total");
    let shed = house.counted(r#"memgate_capture_dropped_total{reason="queue_full"}"#);
    assert_eq!(kept + shed, 300);
    assert!(kept >= 4 && shed > 0, "{kept} {shed}");
    assert_eq!(house.contents("alice").await.len() as u64, kept.min(100));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_is_full_sheds_learning_and_recovers_by_itself() {
    let house = House::new();
    let journal = &house.capture.parts.journal;
    house.capture.check().await.unwrap();
    let pages = journal
        .write(|c| {
            let pages: i64 = c.pragma_query_value(None, "page_count", |row| row.get(0))?;
            c.pragma_update_and_check(None, "max_page_count", pages, |row| row.get::<_, i64>(0))
        })
        .await
        .unwrap();
    let long = "word ".repeat(10_000);
    for n in 1..=2 {
        house.offer(said("alice", n, &long));
        house.capture.intake.barrier().await;
    }
    assert!(house.shows(r#"memgate_capture_dropped_total{reason="journal"} 2"#));
    journal
        .write(move |c| {
            c.pragma_update_and_check(None, "max_page_count", pages * 100, |row| {
                row.get::<_, i64>(0)
            })
        })
        .await
        .unwrap();
    house.offer(said("alice", 3, &long));
    house.until_memories("alice", 1).await;
    house.until_shows("memgate_turns_journaled_total 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_settings_hold_from_the_next_turn_on() {
    let house = House::new();
    house.capture.reconfigure(Settings { store_turns: false, ..settings(None) });
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.flush("alice").await;
    assert!(house.contents("alice").await.is_empty());
    house.capture.reconfigure(settings(None));
    house.offer(said("alice", 2, "I like olives"));
    house.until_memories("alice", 1).await;
}

//! Ends without a word, jobs, and who waits for whom.

use crate::{service::tests::*, test_support::said};

fn gated(folder: &Arc<tempfile::TempDir>) -> House {
    House::in_folder(folder.clone(), settings(None), Doll::new(false), 64)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_journaled_becomes_a_memory_once_after_a_crash() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let house = gated(&folder);
    for n in 1..=20 {
        house.offer(said("alice", n, &format!("Fact number {n} is true")));
    }
    house.capture.intake.barrier().await;
    assert!(house.shows("memgate_turns_journaled_total 20"));
    house.doll.asked(1).await;
    assert!(house.contents("alice").await.is_empty(), "the first job is held up");
    let house = house.crash_and_open();
    assert_eq!(house.until_memories("alice", 20).await.len(), 20);
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_was_done_but_not_settled_leads_to_the_same_memory() {
    let house = House::new();
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.flush("alice").await;
    // As if the process had ended between the two.
    let owe = "INSERT INTO jobs (kind, subject, tenant, user, lane, due_at, created_at)
               VALUES ('store_turn', 1, 'default', 'alice', 'default/alice', 0, 0)";
    house.capture.parts.journal.write(move |c| c.execute(owe, [])).await.unwrap();
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let memories = house.memories("alice").await;
    assert_eq!((memories.len(), memories[0].version), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_run_one_by_one_for_a_user_and_side_by_side_for_two() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let house = gated(&folder);
    for n in 1..=3 {
        house.offer(said("alice", n, &format!("alice has fact {n}")));
    }
    house.offer(said("bob", 1, "bob has a fact"));
    // Two come although nothing was let through: one of each.
    let mut asked = house.doll.asked(2).await;
    asked.sort();
    assert_eq!(asked, ["alice has fact 1", "bob has a fact"]);
    house.doll.gate.add_permits(2);
    assert_eq!(house.doll.asked(3).await[2], "alice has fact 2");
    house.doll.gate.close();
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 3);
    assert_eq!(house.flush("bob").await.jobs_pending, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flush_waits_for_exchanges_in_flight_and_says_when_time_ran_out() {
    let house = Arc::new(House::new());
    let (known, unknown) = (house.capture.exchange_begins(), house.capture.exchange_begins());
    known.known(&owner("alice"));
    let late = house.capture.flush(&owner("alice"), Duration::from_millis(20)).await.unwrap();
    assert_eq!(late.jobs_pending, 2, "two exchanges may still bring something");
    let flushing = tokio::spawn({
        let house = house.clone();
        async move { house.flush("alice").await }
    });
    tokio::task::yield_now().await;
    house.capture.offer(said("alice", 1, "I moved to Lyon").turn(), known);
    drop(unknown);
    let flushed = flushing.await.unwrap();
    // A quick worker has done the job before the flush could see it.
    assert!(flushed.jobs_done <= 1);
    assert_eq!((flushed.sessions_ended, flushed.jobs_pending), (1, 0));
    assert_eq!(house.contents("alice").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_writes_what_waits_and_ends_all_tasks() {
    let house = House::new();
    for n in 1..=50 {
        house.offer(said("alice", n, &format!("Fact number {n} is true")));
    }
    house.capture.shutdown(PATIENCE).await;
    assert!(house.capture.tasks.is_empty());
    assert!(house.shows("memgate_turns_journaled_total 50"));
    house.offer(said("alice", 51, "too late"));
    assert!(house.shows(r#"memgate_capture_dropped_total{reason="queue_full"} 1"#));
    let house = house.crash_and_open();
    assert_eq!(house.until_memories("alice", 50).await.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_workers_nothing_is_learnt_and_everything_stays_owed() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let bounds = Bounds { queue: 64, workers: 0 };
    let house = House::with_bounds(folder, settings(None), Doll::new(true), bounds);
    house.offer(said("alice", 1, "I moved to Lyon"));
    house.offer(said("bob", 1, "I moved to Turin"));
    house.capture.intake.barrier().await;
    let flushed = house.capture.flush(&owner("alice"), Duration::from_secs(1)).await.unwrap();
    assert_eq!((flushed.jobs_done, flushed.jobs_pending), (0, 1));
    assert_eq!(house.capture.forget_turns(&owner("bob"), Forget::Everything).await.unwrap(), 1);
    house.capture.shutdown(PATIENCE).await;
    let house = house.crash_and_open();
    assert_eq!(house.until_memories("alice", 1).await.len(), 1);
    assert!(house.contents("bob").await.is_empty());
}

use crate::journal::tests::*;

/// Adds a job as it stands in the table.
async fn add(book: &Book, kind: &'static str, subject: i64, lane: &'static str, due: i64) {
    let sql = "INSERT INTO jobs (kind, subject, tenant, user, lane, due_at, created_at)
               VALUES (?1, ?2, 'default', 'alice', ?3, ?4, 0)";
    book.journal.write(move |c| c.execute(sql, (kind, subject, lane, due))).await.unwrap();
}

/// The table of lanes, computed anew.
const ANEW: &str = "SELECT lane, lane LIKE 'extract//%', min(due_at) FROM jobs
                    WHERE state = 'pending' GROUP BY lane ORDER BY lane";

async fn agree(book: &Book) {
    let kept = book.rows("SELECT lane, extractions, due_at FROM lanes ORDER BY lane").await;
    assert_eq!(kept, book.rows(ANEW).await);
}

#[tokio::test]
async fn the_first_job_of_each_lane_is_known_whatever_happens_to_jobs() {
    let book = Book::open();
    for n in 1..=4 {
        book.record(said("alice", n, &format!("alice {n}")).session("s")).await;
        book.record(said("bob", n, &format!("bob {n}")).session("s").project("p")).await;
    }
    agree(&book).await;
    for change in [
        "UPDATE jobs SET state = 'dead' WHERE id = (SELECT min(id) FROM jobs)",
        "UPDATE jobs SET due_at = 0 WHERE kind = 'end_idle_session'",
        "UPDATE jobs SET state = 'pending', due_at = 7 WHERE state = 'dead'",
        "DELETE FROM jobs WHERE kind = 'store_turn' AND subject % 2 = 0",
        "UPDATE jobs SET tries = tries + 1",
    ] {
        book.journal.write(move |c| c.execute(change, [])).await.unwrap();
        agree(&book).await;
    }
    book.journal.forget(owner("bob"), Forget::Project("p".into())).await.unwrap();
    agree(&book).await;
    book.journal.end_all(owner("alice"), RULES, at(70)).await.unwrap();
    agree(&book).await;
    book.journal.forget(owner("alice"), Forget::Everything).await.unwrap();
    assert!(book.rows("SELECT lane FROM lanes").await.is_empty());
}

#[tokio::test]
async fn the_longest_due_job_runs_first_where_there_is_room() {
    let book = Book::open();
    add(&book, "store_turn", 1, "a", 20).await;
    add(&book, "store_turn", 2, "b", 10).await;
    add(&book, "extract", 3, "extract//a", 5).await;
    add(&book, "extract", 4, "extract//b", 30).await;
    let now = Timestamp::from_millisecond(25).unwrap();
    let next = |busy: &'static str, extractions, others| {
        let room = Room { busy: busy.into(), extractions, others };
        let (room_then, journal) = (room.clone(), &book.journal);
        async move {
            let due = journal.read(move |c| next_due(c, &room, now)).await.unwrap();
            let time = journal.read(move |c| next_time(c, &room_then, now)).await.unwrap();
            (due.map(|job| job.subject), time.map(|time| time.as_millisecond()))
        }
    };
    assert_eq!(next("[]", true, true).await, (Some(3), Some(5)));
    assert_eq!(next("[]", false, true).await, (Some(2), Some(10)));
    assert_eq!(next(r#"["b"]"#, false, true).await, (Some(1), Some(20)));
    assert_eq!(next(r#"["extract//a"]"#, true, false).await, (None, Some(30)));
    assert_eq!(next("[]", false, false).await, (None, None));
    let owed = book.journal.read(owed).await.unwrap();
    assert_eq!((owed.pending, owed.dead.len()), (4, 0));
    assert_eq!(owed.first_due.map(|due| due.as_millisecond()), Some(5));
}

#[tokio::test]
async fn a_summary_waits_for_the_due_jobs_of_its_owner_and_for_no_others() {
    let book = Book::open();
    add(&book, "summarise", 1, "extract//a", 5).await;
    add(&book, "store_turn", 2, "a", 10).await;
    add(&book, "store_turn", 3, "b", 10).await;
    add(&book, "erase_forgotten", 4, "a", 90).await;
    let next = async |now, busy: &str| {
        let now = Timestamp::from_millisecond(now).unwrap();
        let room = Room { busy: busy.into(), extractions: true, others: true };
        let due = book.journal.read(move |c| next_due(c, &room, now)).await.unwrap();
        due.map(|job| job.subject)
    };
    assert_eq!(next(25, "[]").await, Some(2));
    assert_eq!(next(25, r#"["a", "b"]"#).await, None, "its owner's job runs");
    assert_eq!(next(25, r#"["b"]"#).await, Some(2));
    let done = "DELETE FROM jobs WHERE subject = 2";
    book.journal.write(move |c| c.execute(done, [])).await.unwrap();
    assert_eq!(next(25, "[]").await, Some(1), "what waits for a grace to end is not due");
}

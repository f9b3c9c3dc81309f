//! When sessions end, and when they do not.

use crate::{journal::tests::*, session::SessionKey};

impl Book {
    /// Runs the job that ends a session, as if at that time.
    async fn end_if_idle(
        &self,
        session: i64,
        talking: &[Option<SessionKey>],
        seconds: i64,
    ) -> Option<Waits> {
        let talking = talking.to_vec();
        let end = move |c: &Connection| end_if_idle(c, session, &talking, &RULES, at(seconds));
        self.journal.write(end).await.unwrap()
    }

    /// The names of the sessions that have ended.
    async fn ended(&self) -> Vec<String> {
        let rows = self.rows("SELECT name FROM sessions WHERE ended_at IS NOT NULL ORDER BY id");
        rows.await.into_iter().flatten().collect()
    }
}

fn named(session: &str) -> Option<SessionKey> {
    Some(SessionKey::Named(session.into()))
}

#[tokio::test]
async fn an_idle_session_ends_only_when_it_is_idle() {
    let book = Book::open();
    book.record(said("alice", 1, "a").session("s").at(0)).await;
    assert_eq!(book.end_if_idle(1, &[], 300).await, Some(Waits::Until(at(601))));
    assert_eq!(book.end_if_idle(1, &[], 601).await, None);
    assert_eq!(book.ended().await, ["s"]);
}

#[tokio::test]
async fn a_new_session_ends_those_of_its_user_that_are_quiet() {
    let book = Book::open();
    book.record(said("alice", 1, "a").session("old").at(0)).await;
    book.record(said("bob", 1, "a").session("bobs").at(0)).await;
    book.record(said("alice", 1, "b").session("new").at(30)).await;
    let due = "SELECT due_at FROM jobs WHERE kind = 'end_idle_session' AND subject = 1";
    assert_eq!(book.rows(due).await, [[at(61).as_millisecond().to_string()]]);
    assert_eq!(book.end_if_idle(1, &[], 60).await, Some(Waits::Until(at(61))));
    assert_eq!(book.end_if_idle(1, &[], 61).await, None);
    assert_eq!(book.end_if_idle(2, &[], 61).await, Some(Waits::Until(at(601))), "bob's own");
    assert_eq!(book.end_if_idle(3, &[], 61).await, Some(Waits::Until(at(631))), "the new one");
    assert_eq!(book.ended().await, ["old"]);
}

#[tokio::test]
async fn sessions_that_go_on_beside_each_other_stay_open() {
    let book = Book::open();
    for n in 1..4 {
        book.record(said("alice", n, &format!("a{n}")).session("a").at(i64::from(n) * 50)).await;
        book.record(said("alice", n, &format!("b{n}")).session("b").at(i64::from(n) * 50)).await;
    }
    for session in [1, 2] {
        assert_eq!(book.end_if_idle(session, &[], 300).await, Some(Waits::Until(at(751))));
    }
    assert_eq!(book.rows("SELECT turns FROM sessions").await, [["3"], ["3"]]);
}

#[tokio::test]
async fn a_session_with_an_exchange_in_flight_does_not_end() {
    let book = Book::open();
    book.record(said("alice", 1, "a").session("s").response("r1").at(0)).await;
    for talking in [named("s"), None, Some(SessionKey::AfterResponse("r1".into()))] {
        assert_eq!(book.end_if_idle(1, &[named("t"), talking], 700).await, Some(Waits::Busy));
    }
    let others = [named("t"), Some(SessionKey::AfterResponse("r2".into()))];
    assert_eq!(book.end_if_idle(1, &others, 700).await, None);
}

#[tokio::test]
async fn a_derived_session_that_was_left_goes_on_where_it_was() {
    let book = Book::open();
    book.record(said("alice", 1, "a").at(0)).await;
    book.record(said("alice", 1, "b").session("new").at(100)).await;
    assert_eq!(book.end_if_idle(1, &[], 100).await, None);
    book.record(said("alice", 2, "c").at(200)).await;
    let rows = book.rows("SELECT turns, ended_at, left_at FROM sessions ORDER BY id").await;
    assert_eq!(rows, [["2", "-", "-"], ["1", "-", "-"]]);
}

#[tokio::test]
async fn an_exchange_can_end_its_session() {
    let book = Book::open();
    for n in 1..=2 {
        book.record(said("alice", n, &format!("turn {n}")).session("s")).await;
    }
    book.record(said("alice", 1, "another").session("t")).await;
    book.record(said("alice", 3, "I must go").calls("a").session("s").ends_session()).await;
    assert_eq!(book.ended().await, ["s"]);
    assert_eq!(book.rows("SELECT count(*) FROM turns WHERE state = 'open'").await, [["0"]]);
    let extractions = "SELECT payload ->> '$.session', subject FROM jobs WHERE kind = 'extract'";
    assert_eq!(book.rows(extractions).await, [["1", "4"]]);
}

#[tokio::test]
async fn before_another_topic_what_was_said_is_extracted_and_the_count_begins_after_it() {
    let book = Book::open();
    for n in 1..=3 {
        book.record(said("alice", n, &format!("turn {n}")).session("s")).await;
    }
    let owed = || {
        book.rows(
            "SELECT subject, payload ->> '$.batch' FROM jobs WHERE kind = 'extract' ORDER BY 1",
        )
    };
    assert_eq!(owed().await, [["3", "8"]], "the third turn filled the batch");
    for n in 4..=5 {
        book.record(said("alice", n, &format!("turn {n}")).session("s")).await;
    }
    let change = |turn| book.journal.write(move |c| extract_before(c, turn, &RULES, at(10)));
    change(5).await.unwrap();
    change(5).await.unwrap();
    change(2).await.unwrap();
    assert_eq!(owed().await, [["3", "8"], ["4", "6"]]);
    assert_eq!(book.rows("SELECT turns, extracted FROM sessions").await, [["5", "4"]]);
    book.record(said("alice", 6, "turn 6").session("s")).await;
    assert_eq!(owed().await.len(), 2);
    book.record(said("alice", 7, "turn 7").session("s")).await;
    assert_eq!(owed().await[2], ["7", "8"]);
}

#[tokio::test]
async fn however_a_session_ends_it_owes_the_rest_and_a_summary_once() {
    for by_name in [true, false] {
        let book = Book::open();
        for n in 1..=4 {
            book.record(said("alice", n, &format!("turn {n}")).session("s").at(0)).await;
        }
        assert_eq!((book.jobs("extract").await, book.jobs("summarise").await), (1, 0));
        if by_name {
            let end = book.journal.end_session(owner("alice"), "s".into(), RULES, at(700));
            end.await.unwrap();
        } else {
            assert_eq!(book.end_if_idle(1, &[], 700).await, None);
        }
        assert_eq!((book.jobs("extract").await, book.jobs("summarise").await), (2, 1));
        book.journal.write(|c| c.execute("DELETE FROM jobs", [])).await.unwrap();
        assert_eq!(book.end_if_idle(1, &[], 800).await, None);
        assert_eq!((book.jobs("extract").await, book.jobs("summarise").await), (0, 0));
    }
}

#[tokio::test]
async fn what_is_said_after_something_was_forgotten_is_summed_up_too() {
    let book = Book::open();
    for n in 1..=3 {
        book.record(said("alice", n, &format!("turn {n}")).session("s")).await;
    }
    let end = |now| book.journal.end_session(owner("alice"), "s".into(), RULES, at(now));
    end(10).await.unwrap();
    assert_eq!(book.jobs("summarise").await, 1);
    let done = "DELETE FROM jobs WHERE kind = 'summarise'";
    book.journal.write(move |c| c.execute(done, [])).await.unwrap();
    end(20).await.unwrap();
    assert_eq!(book.jobs("summarise").await, 0, "nothing new was said");
    let key = book.rows("SELECT key FROM turns ORDER BY id LIMIT 1").await.concat().remove(0);
    book.journal.forget(owner("alice"), Forget::Turn(key)).await.unwrap();
    book.record(said("alice", 4, "turn 4").session("s").at(30)).await;
    end(40).await.unwrap();
    assert_eq!(book.jobs("summarise").await, 1);
}

#[tokio::test]
async fn what_a_session_knows_goes_with_any_of_its_turns() {
    let book = Book::open();
    let alice = owner("alice");
    for session in ["s", "t", "u"] {
        for n in 1..=2 {
            book.record(said("alice", n, &format!("turn {n}")).session(session)).await;
        }
        let centre = book.journal.set_value(&alice, session, "centre", b"1".to_vec(), None);
        assert!(centre.await.unwrap());
    }
    let key = book.rows("SELECT key FROM turns ORDER BY id LIMIT 1").await.concat().remove(0);
    book.journal.forget(alice.clone(), Forget::Turn(key)).await.unwrap();
    // The turn of this one was pruned.
    let found = Forget::Found { session: "t".into(), turn: "gone".into(), until: at(9) };
    book.journal.forget(alice, found).await.unwrap();
    let left =
        book.rows("SELECT name FROM sessions WHERE id IN (SELECT session FROM session_values)");
    assert_eq!(left.await, [["u"]]);
}

use crate::{Retention, journal::tests::*};

impl Book {
    /// All that is owed counts as done.
    async fn learn(&self) {
        let done = "DELETE FROM jobs WHERE kind <> 'end_idle_session'";
        self.journal.write(move |c| c.execute(done, [])).await.unwrap();
    }

    /// Removes what is older than ten seconds at that time.
    async fn prune(&self, now: i64) -> Pruned {
        let kept = Duration::from_secs(10);
        let retention = Retention { turns: kept, dead_jobs: kept };
        let (mut pruned, mut after) = (Pruned::default(), Some(0));
        while let Some(turn) = after {
            let look = move |c: &_| look_for_old_turns(c, &retention, turn, at(now));
            let found = self.journal.read(look).await.unwrap();
            after = found.next;
            let step = move |c: &_| prune_turns(c, &retention, &found.due, at(now));
            pruned = pruned.and(self.journal.write(step).await.unwrap());
        }
        pruned
    }

    async fn end(&self, session: &str, now: i64) {
        let name = session.to_owned();
        self.journal.end_session(owner("alice"), name, RULES, at(now)).await.unwrap();
    }

    async fn texts(&self) -> Vec<String> {
        self.rows("SELECT user_text FROM turns ORDER BY id").await.concat()
    }
}

#[tokio::test]
async fn a_turn_goes_when_it_is_old_and_learnt_and_its_session_has_ended() {
    let book = Book::open();
    book.record(said("alice", 1, "old").session("s").response("r1")).await;
    book.record(said("alice", 1, "new").after("r1").response("r2").at(20)).await;
    book.record(said("bob", 1, "bob").session("s")).await;
    assert_eq!(book.prune(25).await.turns, 0, "owed");
    book.learn().await;
    assert_eq!(book.prune(25).await.turns, 0, "the session goes on");
    book.end("s", 25).await;
    book.learn().await;
    assert_eq!(book.prune(10).await.turns, 0, "not old");
    let pruned = book.prune(25).await;
    assert_eq!((pruned.turns, pruned.sessions), (1, 0));
    assert_eq!(book.texts().await, ["new", "bob"]);
    assert_eq!(book.rows("SELECT count(*) FROM replies").await, [["2"]]);
    // The session has counted both, and a chain ends where its turn is gone.
    assert_eq!(book.rows("SELECT turns FROM sessions WHERE user = 'alice'").await, [["2"]]);
    let told = book.journal.read(|c| chain(c, &owner("alice"), "r2", 10)).await.unwrap();
    assert_eq!(told.len(), 1);
    let pruned = book.prune(60).await;
    assert_eq!((pruned.turns, pruned.sessions), (1, 1));
    assert_eq!(book.rows("SELECT user FROM sessions").await, [["bob"]]);
}

#[tokio::test]
async fn a_dead_job_holds_what_it_needs_until_it_goes_itself_and_nothing_else() {
    let book = Book::open();
    for (session, user) in [("s", "alice"), ("t", "alice"), ("s", "bob")] {
        for n in 1..=2 {
            let text = format!("{user} {session} {n}");
            book.record(said(user, n, &text).session(session)).await;
        }
        let end = book.journal.end_session(owner(user), session.into(), RULES, at(5));
        end.await.unwrap();
    }
    book.learn().await;
    let dead = "INSERT INTO jobs (kind, subject, tenant, user, lane, payload, due_at, state, created_at)
        VALUES ('extract', 1, 'default', 'alice', 'l', '{\"session\": 1, \"batch\": 6}', 0, 'dead', 0),
               ('store_turn', 4, 'default', 'alice', 'l', NULL, 0, 'dead', 0),
               ('summarise', 3, 'default', 'bob', 'l', NULL, 0, 'dead', 0)";
    book.journal.write(move |c| c.execute(dead, [])).await.unwrap();
    assert_eq!(book.prune(60).await.turns, 2);
    assert_eq!(book.texts().await, ["alice s 1", "alice t 2", "bob s 1", "bob s 2"]);
    let month = Retention::default();
    let removed = book.journal.write(move |c| prune_dead_jobs(c, &month, at(60))).await.unwrap();
    assert_eq!((removed.0.dead_jobs, removed.1), (3, false));
    assert_eq!(book.prune(60).await.turns, 4);
}

#[tokio::test]
async fn what_is_owed_again_since_it_was_looked_at_stays() {
    let book = Book::open();
    book.record(said("alice", 1, "hello").session("s")).await;
    book.end("s", 5).await;
    book.learn().await;
    let retention = Retention { turns: Duration::ZERO, ..Retention::default() };
    let look = move |c: &_| look_for_old_turns(c, &retention, 0, at(60));
    let found = book.journal.read(look).await.unwrap();
    assert_eq!((found.due.len(), found.old, found.next), (1, 1, None));
    book.record(said("alice", 1, "hello").session("s").reply("Another answer.").at(50)).await;
    let step = move |c: &_| prune_turns(c, &retention, &found.due, at(60));
    assert_eq!(book.journal.write(step).await.unwrap(), Pruned::default());
}

#[tokio::test]
async fn an_open_turn_stays_and_a_session_that_goes_on_keeps_its_last_turns() {
    let book = Book::open();
    let turn = |n| said("alice", n, &format!("turn {n}")).session("s");
    book.record_all((1..=1_030).map(turn)).await;
    book.record(said("alice", 1, "open").session("o").calls("a")).await;
    book.learn().await;
    assert_eq!(book.prune(60).await.turns, 6);
    assert_eq!(book.texts().await.first().map(String::as_str), Some("turn 7"));
    book.end("s", 60).await;
    book.learn().await;
    assert_eq!(book.prune(90).await.turns, 1_024);
    assert_eq!(book.texts().await, ["open"]);
}

#[tokio::test]
async fn the_same_words_in_a_session_begun_again_are_another_turn() {
    let book = Book::open();
    let keys = || book.rows("SELECT key FROM turns");
    book.record(said("alice", 1, "hello").session("s")).await;
    let first = keys().await;
    book.end("s", 5).await;
    book.learn().await;
    assert_eq!(book.prune(60).await.sessions, 1);
    book.record(said("alice", 1, "hello").session("s").at(70)).await;
    assert_ne!(keys().await, first);
}

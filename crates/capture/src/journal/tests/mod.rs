mod due;
mod edits;
mod ledger;
mod prune;

mod sessions;

use std::time::Duration;

use jiff::Timestamp;
use memgate_core::clock::Clock;
use rusqlite::Connection;

use crate::{
    intake::screened,
    journal::{sessions::Ended, *},
    settings::{Rules, SessionRules},
    test_support::{Said, at, owner, said},
};
use memgate_sqlite::Options;

const RULES: Rules = Rules {
    store_turns: true,
    extract_locally: false,
    extract_every: Some(3),
    sessions: SessionRules {
        idle_timeout: Duration::from_secs(600),
        quiet_after: Duration::from_secs(60),
        summaries: true,
        drift_threshold: None,
    },
};

struct Book {
    journal: Journal,
    folder: tempfile::TempDir,
}

impl Book {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(&folder.path().join("journal.db"), Options::default(), Clock::System)
                .unwrap();
        Self { journal, folder }
    }

    async fn record(&self, said: Said) -> Recorded {
        self.record_tools(said, true).await
    }

    /// Many in one transaction.
    async fn record_all(&self, all: impl Iterator<Item = Said>) {
        let entry =
            |said: Said| screened(said.turn(), memgate_screening::Screener::default(), true).0;
        self.journal.record(all.map(entry).collect(), RULES, |_, _| true).await.unwrap();
    }

    async fn record_tools(&self, said: Said, contents: bool) -> Recorded {
        let (entry, _) = screened(said.turn(), memgate_screening::Screener::default(), contents);
        self.journal.record(vec![entry], RULES, |_, _| true).await.unwrap()[0]
    }

    async fn rows(&self, sql: &'static str) -> Vec<Vec<String>> {
        self.journal
            .read(move |c| {
                let mut query = c.prepare(sql)?;
                let columns = query.column_count();
                query
                    .query_map([], |row| {
                        (0..columns)
                            .map(|n| {
                                Ok(match row.get_ref(n)? {
                                    rusqlite::types::ValueRef::Null => "-".to_owned(),
                                    rusqlite::types::ValueRef::Integer(n) => n.to_string(),
                                    other => other.as_str()?.to_owned(),
                                })
                            })
                            .collect()
                    })?
                    .collect()
            })
            .await
            .unwrap()
    }

    /// Replies and tool calls of all turns, in order, one line each.
    pub(crate) async fn told(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for row in self
            .rows(
                "SELECT t.user_text, t.state, r.depth, r.text FROM turns t
                 JOIN replies r ON r.turn = t.id ORDER BY t.id, r.depth",
            )
            .await
        {
            lines.push(row.join(" | "));
        }
        for row in self
            .rows("SELECT position, call_id, output, latency_ms FROM tool_calls ORDER BY 1")
            .await
        {
            lines.push(row.join(" | "));
        }
        lines
    }

    async fn jobs(&self, kind: &'static str) -> usize {
        let rows = self.rows("SELECT kind FROM jobs").await;
        rows.iter().filter(|row| row[0] == kind).count()
    }
}

#[tokio::test]
async fn a_turn_and_what_it_owes_are_written_together() {
    let book = Book::open();
    assert_eq!(book.record(said("alice", 1, "I moved to Lyon")).await, Recorded::New);
    assert_eq!(
        book.told().await,
        ["I moved to Lyon | complete | 0 | All right, I have written that down."]
    );
    assert_eq!((book.jobs("store_turn").await, book.jobs("end_idle_session").await), (1, 1));
}

#[tokio::test]
async fn a_tool_loop_is_one_turn_with_its_calls_as_rows() {
    let book = Book::open();
    let message = || said("alice", 1, "Find me a flight");
    assert_eq!(book.record(message().calls("a").at(0)).await, Recorded::New);
    assert_eq!(book.jobs("store_turn").await, 0, "the turn is open");
    let second = message().result("a", "two flights").calls("b").at(3);
    assert_eq!(book.record(second).await, Recorded::Known);
    let last = message().result("a", "two flights").result("b", "booked").at(7);
    assert_eq!(book.record(last.reply("Booked for you.")).await, Recorded::Known);
    assert_eq!(
        book.told().await,
        [
            "Find me a flight | complete | 0 | ",
            "Find me a flight | complete | 1 | ",
            "Find me a flight | complete | 2 | Booked for you.",
            "0 | a | two flights | 2000",
            "1 | b | booked | 3000",
        ]
    );
    assert_eq!(book.jobs("store_turn").await, 1);
}

#[tokio::test]
async fn contents_of_tools_are_on_no_disk_unless_configured() {
    let book = Book::open();
    let question = || said("alice", 1, "When is my flight?");
    book.record_tools(question().calls("a").at(0), false).await;
    let answer = question().result("a", "the 07:45 to Lisbon").at(3).reply("In the morning.");
    book.record_tools(answer, false).await;
    let told = book.rows("SELECT name, input, output, latency_ms FROM tool_calls").await;
    assert_eq!(told, [["search", "", "", "2000"]], "the outcome is kept");
    for file in std::fs::read_dir(book.folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"Lisbon"));
    }
}

#[tokio::test]
async fn a_tool_loop_of_a_chain_goes_on_by_response_id() {
    let book = Book::open();
    book.record(said("alice", 1, "Find me a flight").calls("a").response("r1")).await;
    let results = said("alice", 1, "").only_results().after("r1").result("a", "two").at(5);
    assert_eq!(book.record(results.reply("Found two.").response("r2")).await, Recorded::Known);
    assert_eq!(
        book.told().await,
        [
            "Find me a flight | complete | 0 | ",
            "Find me a flight | complete | 1 | Found two.",
            "0 | a | two | 4000",
        ]
    );
    let orphan = said("alice", 1, "").only_results().after("nowhere").result("x", "y");
    assert_eq!(book.record(orphan).await, Recorded::Orphan);
    let stranger = said("bob", 1, "").only_results().after("r2").result("x", "y");
    assert_eq!(book.record(stranger).await, Recorded::Orphan, "only the owner's own turns");
}

#[tokio::test]
async fn a_regeneration_replaces_the_reply_and_is_no_second_turn() {
    let book = Book::open();
    book.record(said("alice", 1, "I moved").reply("one")).await;
    book.record(said("alice", 2, "and married").reply("first")).await;
    assert_eq!(book.record(said("alice", 2, "and married").reply("second")).await, Recorded::Known);
    assert_eq!(
        book.told().await,
        ["I moved | complete | 0 | one", "and married | complete | 0 | second"]
    );
    assert_eq!(book.rows("SELECT turns FROM sessions").await, [["2"]]);
    // Its memory is owed once more, although a job for it is there already.
    assert_eq!(
        book.rows("SELECT wanted FROM jobs WHERE kind = 'store_turn'").await,
        [["1"], ["2"]]
    );
}

#[tokio::test]
async fn a_regeneration_in_a_tool_loop_drops_what_came_deeper() {
    let book = Book::open();
    let message = || said("alice", 1, "Find me a flight");
    book.record(message().calls("a")).await;
    book.record(message().result("a", "x").calls("b")).await;
    book.record(message().reply("I cannot search.")).await;
    assert_eq!(book.told().await, ["Find me a flight | complete | 0 | I cannot search."]);
}

#[tokio::test]
async fn a_derived_session_that_was_idle_too_long_is_a_new_one() {
    let book = Book::open();
    book.record(said("alice", 1, "a").at(0)).await;
    book.record(said("alice", 2, "b").at(500)).await;
    book.record(said("alice", 1, "a").at(1_200)).await;
    let sessions = book.rows("SELECT name, turns FROM sessions ORDER BY generation").await;
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[1][0], format!("{}-2", sessions[0][0]));
    assert_eq!((sessions[0][1].as_str(), sessions[1][1].as_str()), ("2", "1"));
}

#[tokio::test]
async fn a_named_session_is_the_same_however_long_it_was_idle() {
    let book = Book::open();
    book.record(said("alice", 1, "a").session("s").at(0)).await;
    book.record(said("alice", 2, "b").session("s").at(90_000)).await;
    book.record(said("bob", 1, "a").session("s").at(0)).await;
    let rows = book.rows("SELECT user, name, turns FROM sessions ORDER BY user").await;
    assert_eq!(rows, [["alice", "s", "2"], ["bob", "s", "1"]]);
}

#[tokio::test]
async fn a_chain_stays_in_the_session_it_began_in() {
    let book = Book::open();
    book.record(said("alice", 1, "a").response("r1")).await;
    book.record(said("alice", 1, "yes").after("r1").response("r2")).await;
    book.record(said("alice", 1, "yes").after("r2").response("r3")).await;
    let rows = book.rows("SELECT ordinal, user_text FROM turns ORDER BY id").await;
    assert_eq!(rows, [["1", "a"], ["2", "yes"], ["3", "yes"]]);
    assert_eq!(book.rows("SELECT count(*) FROM sessions").await, [["1"]]);
    book.record(said("alice", 1, "b").after("unknown")).await;
    book.record(said("bob", 1, "c").after("r3")).await;
    let names = book.rows("SELECT user, name FROM sessions WHERE name NOT LIKE 'auto-%'").await;
    assert_eq!(names, [["alice", "unknown"], ["bob", "r3"]]);
}

#[tokio::test]
async fn a_chain_is_told_again_to_its_owner_only() {
    let book = Book::open();
    book.record(said("alice", 1, "one").response("r1").reply("first")).await;
    book.record(said("alice", 1, "two").after("r1").response("r2").reply("second")).await;
    book.record(said("alice", 1, "other").after("r1").response("r2b").reply("aside")).await;
    book.record(said("alice", 1, "three").after("r2").response("r3").reply("third")).await;
    let told = |user: &'static str, id: &'static str, count| {
        let journal = &book.journal;
        async move {
            let turns = journal.read(move |c| chain(c, &owner(user), id, count)).await.unwrap();
            turns.into_iter().map(|turn| turn.user_text).collect::<Vec<_>>()
        }
    };
    assert_eq!(told("alice", "r3", 10).await, ["one", "two", "three"]);
    assert_eq!(told("alice", "r3", 2).await, ["two", "three"]);
    assert_eq!(told("alice", "r2b", 10).await, ["one", "other"]);
    assert!(told("bob", "r3", 10).await.is_empty());
}

#[tokio::test]
async fn every_third_turn_owes_an_extraction_and_the_end_owes_the_rest() {
    let book = Book::open();
    for n in 1..=4 {
        book.record(said("alice", n, &format!("turn {n}")).session("s")).await;
    }
    let payloads = || book.rows("SELECT payload ->> '$.batch' FROM jobs WHERE kind = 'extract'");
    assert_eq!(payloads().await, [["8"]]);
    let ended = book.journal.end_session(owner("alice"), "s".into(), RULES, at(50)).await.unwrap();
    assert_eq!(ended, Some(Ended { turns: 4 }));
    assert_eq!(payloads().await, [["8"], ["6"]]);
    book.journal.end_session(owner("alice"), "s".into(), RULES, at(60)).await.unwrap();
    assert_eq!(book.jobs("extract").await, 2, "nothing is left to extract");
    assert_eq!(book.jobs("end_idle_session").await, 0);
    let none = book.journal.end_session(owner("bob"), "s".into(), RULES, at(60)).await.unwrap();
    assert_eq!(none, None);
}

#[tokio::test]
async fn the_end_of_a_session_completes_its_open_turns() {
    let book = Book::open();
    book.record(said("alice", 1, "Find me a flight").calls("a").session("s")).await;
    book.journal.end_session(owner("alice"), "s".into(), RULES, at(50)).await.unwrap();
    assert_eq!(book.jobs("store_turn").await, 1);
    assert_eq!(book.rows("SELECT state FROM turns").await, [["complete"]]);
}

#[tokio::test]
async fn forgetting_removes_turns_jobs_and_what_was_found_and_nobody_elses() {
    let book = Book::open();
    book.record(said("alice", 1, "keep this").session("s").project("p")).await;
    book.record(said("alice", 2, "drop zanzibar").session("s").project("q")).await;
    book.record(said("bob", 1, "bob zanzibar").session("s").project("q")).await;
    let found = "INSERT INTO jobs (kind, subject, tenant, user, lane, payload, due_at, created_at)
        VALUES ('reconcile', 2, 'default', 'alice', 'default/alice',
                '{\"session\": 1, \"batch\": 6, \"found\": [\"zanzibar\"]}', 0, 0)";
    book.journal.write(move |c| c.execute(found, [])).await.unwrap();
    let forgotten = book.journal.forget(owner("alice"), Forget::Project("q".into())).await.unwrap();
    assert_eq!(forgotten, 1);
    let rows = book.rows("SELECT user, user_text FROM turns ORDER BY id").await;
    assert_eq!(rows, [["alice", "keep this"], ["bob", "bob zanzibar"]]);
    assert_eq!((book.jobs("reconcile").await, book.jobs("extract").await), (0, 1));
    assert_eq!(book.rows("SELECT turns FROM sessions WHERE user = 'alice'").await, [["1"]]);
    let forgotten = book.journal.forget(owner("alice"), Forget::Everything).await.unwrap();
    assert_eq!(forgotten, 1);
    let left = book
        .rows("SELECT user FROM turns UNION SELECT user FROM jobs UNION SELECT user FROM sessions")
        .await;
    assert_eq!(left, [["bob"]]);
    book.journal.forget(owner("bob"), Forget::Everything).await.unwrap();
    for table in ["SELECT 1 FROM replies", "SELECT 1 FROM jobs", "SELECT 1 FROM sessions"] {
        assert!(book.rows(table).await.is_empty(), "{table}");
    }
}

#[tokio::test]
async fn nothing_forgotten_and_no_secret_is_left_in_the_files() {
    let book = Book::open();
    book.record(said("alice", 1, "my key is ghp_0123456789abcdefghijABCDEFGHIJ012345")).await;
    book.record(
        said("alice", 2, "I hide in zanzibar").reply("ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    )
    .await;
    let bytes = |needle: &str| {
        std::fs::read_dir(book.folder.path()).unwrap().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    };
    assert!(bytes("zanzibar") && !bytes("ghp_01234"));
    book.journal.forget(owner("alice"), Forget::Everything).await.unwrap();
    assert!(!bytes("zanzibar"));
}

#[tokio::test]
async fn a_job_asked_for_while_it_runs_is_owed_again() {
    let book = Book::open();
    book.record(said("alice", 1, "a")).await;
    let room = || Room { busy: "[]".into(), extractions: true, others: true };
    let claim = || async {
        let room = room();
        book.journal.read(move |c| next_due(c, &room, at(10))).await.unwrap()
    };
    let first = claim().await.unwrap();
    assert_eq!(first.kind, JobKind::StoreTurn);
    book.record(said("alice", 1, "a").reply("another")).await;
    let settled = first.clone();
    book.journal.write(move |c| settle(c, &settled, &Settled::Done(None), at(11))).await.unwrap();
    let second = claim().await.unwrap();
    assert_eq!(second.id, first.id);
    book.journal.write(move |c| settle(c, &second, &Settled::Done(None), at(12))).await.unwrap();
    assert!(claim().await.is_none());
}

#[tokio::test]
async fn a_session_keeps_values_until_they_expire() {
    let book = Book::open();
    let (alice, bob) = (owner("alice"), owner("bob"));
    let set = |owner, value: &[u8]| {
        book.journal.set_value(owner, "s", "centre", value.to_vec(), Some(at(100)))
    };
    assert!(!set(&alice, b"1").await.unwrap(), "no such session");
    book.record(said("alice", 1, "a").session("s")).await;
    assert!(set(&alice, b"1").await.unwrap() && set(&alice, b"2").await.unwrap());
    let get = |owner, now| book.journal.value(owner, "s", "centre", now);
    assert_eq!(get(&alice, at(99)).await.unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(get(&alice, at(100)).await.unwrap(), None);
    assert_eq!(get(&bob, at(99)).await.unwrap(), None);
}

#[tokio::test]
async fn a_forgetting_asked_for_again_while_it_runs_keeps_its_words() {
    let book = Book::open();
    let asks = |seconds| {
        let mut asks = said("alice", 1, "Forget my address.").at(seconds);
        asks.of.learn = false;
        asks
    };
    let claim = || async {
        let room = Room { busy: "[]".into(), extractions: true, others: true };
        book.journal.read(move |c| next_due(c, &room, at(60))).await.unwrap().unwrap()
    };
    book.record(asks(0)).await;
    let first = claim().await;
    book.record(asks(5)).await;
    book.journal.fulfilled(first.clone()).await.unwrap();
    let settled = move |c: &_| settle(c, &first, &Settled::Done(None), at(61));
    book.journal.write(settled).await.unwrap();
    let again = claim().await;
    assert!(again.payload.as_ref().is_some_and(|order| order.contains("my address")), "{again:?}");
    book.journal.fulfilled(again.clone()).await.unwrap();
    let settled = move |c: &_| settle(c, &again, &Settled::Done(None), at(62));
    book.journal.write(settled).await.unwrap();
    assert_eq!(book.jobs("forget_said").await, 0);
}

#[tokio::test]
async fn a_message_that_a_client_wrote_is_known_to_all_jobs_and_gives_no_facts() {
    let book = Book::open();
    book.record(said("alice", 1, "Name the talk")).await;
    let stored = || async { book.journal.read(|c| turn(c, 1)).await.unwrap().unwrap() };
    let key = stored().await.key;
    assert_eq!(stored().await.is_prompt, None);
    book.journal.write(move |c| note_prompt(c, &owner("alice"), &key, true)).await.unwrap();
    assert_eq!(stored().await.is_prompt, Some(true));
    let session = book.journal.read(|c| read::session_of(c, 1)).await.unwrap();
    let facts = book.journal.read(move |c| batch(c, session, 1, 10)).await.unwrap();
    assert!(facts.is_empty(), "{facts:?}");
}

#[tokio::test]
async fn the_words_of_a_turn_that_is_not_to_be_remembered_are_removed_and_the_turn_stays() {
    let book = Book::open();
    book.record(
        said("alice", 1, "My brother is in rehab").reply("I am sorry to hear of the rehab."),
    )
    .await;
    book.record(said("bob", 1, "My brother is in rehab")).await;
    let stored = |number| {
        let journal = &book.journal;
        async move { journal.read(move |c| turn(c, number)).await.unwrap().unwrap() }
    };
    let key = stored(1).await.key;
    book.journal.write(move |c| withhold_words(c, &owner("alice"), &key)).await.unwrap();
    let left = stored(1).await;
    assert_eq!((left.user_text.as_str(), left.reply_text.as_str()), ("", ""));
    assert_eq!(stored(2).await.user_text, "My brother is in rehab");
    let session = book.journal.read(|c| read::session_of(c, 1)).await.unwrap();
    let facts = book.journal.read(move |c| batch(c, session, 1, 10)).await.unwrap();
    assert!(facts.is_empty(), "{facts:?}");
}

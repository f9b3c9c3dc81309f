//! Summaries: one memory for a session.

use crate::{
    service::tests::{
        facts::{completion, model},
        *,
    },
    test_support::{at, said},
};
use memgate_core::memory::{MemoryId, MemoryKind, MemoryType, Source};

const WEDDING: [&str; 3] = [
    "My sister Anna is getting married in Porto in June.",
    "My sister Anna invited 80 guests to the wedding in Porto.",
    "I'm flying to Porto for the wedding of my sister Anna.",
];

fn house(extractor: Option<Helper>) -> House {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let sessions = SessionRules { summaries: true, ..SessionRules::default() };
    let settings = Settings { extract_locally: true, sessions, ..settings(extractor) };
    House::in_folder(folder, settings, Doll::new(true), 64)
}

impl House {
    fn tell(&self, texts: &[&str]) {
        for (ordinal, text) in (1..).zip(texts) {
            self.offer(said("alice", ordinal, text).session("s"));
        }
    }

    async fn summaries(&self) -> Vec<Memory> {
        let mut memories = self.memories("alice").await;
        memories.retain(|memory| memory.kind == MemoryKind::Summary);
        memories
    }

    async fn of(&self, content: &str) -> Memory {
        let found = self.memories("alice").await;
        found.into_iter().find(|memory| memory.content == content).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_leaves_a_summary_linked_to_its_turns() {
    let house = house(None);
    house.tell(&WEDDING);
    house.until_memories("alice", 6).await;
    assert!(house.summaries().await.is_empty(), "the session goes on");
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let summaries = house.summaries().await;
    assert_eq!(summaries.len(), 1);
    let summary = &summaries[0];
    assert_eq!(summary.content, WEDDING.join(" "));
    assert_eq!(summary.memory_type.as_str(), MemoryType::EPISODIC);
    assert_eq!(summary.source, Source::SystemGenerated);
    assert_eq!(summary.session_id.as_deref(), Some("s"));
    let turns: Vec<Memory> = house.memories("alice").await;
    let turns: Vec<&Memory> = turns.iter().filter(|memory| memory.as_turn().is_some()).collect();
    let targets: Vec<&MemoryId> = summary.relations.iter().map(|link| &link.target).collect();
    assert_eq!(targets.len(), 3);
    assert!(turns.iter().all(|turn| targets.contains(&&turn.id)));
    assert_eq!(summary.event_time, turns.iter().filter_map(|turn| turn.event_time).min());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_on_has_one_summary_in_a_new_version() {
    let house = house(None);
    house.tell(&WEDDING);
    house.flush("alice").await;
    house.flush("alice").await;
    assert_eq!(house.summaries().await[0].version, 1);
    house.offer(said("alice", 4, "My daughter Mia is allergic to peanuts.").session("s"));
    house.flush("alice").await;
    let summaries = house.summaries().await;
    // The centre has moved, or not: it is the same memory.
    assert_eq!(summaries.len(), 1);
    let history = house.store.history(&owner("alice"), &summaries[0].id).await.unwrap();
    assert_eq!(history.len() as u32, summaries[0].version);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_session_has_none_and_they_can_be_turned_off() {
    let house = house(None);
    house.tell(&WEDDING[..2]);
    house.offer(said("alice", 3, "thanks a lot!").session("s"));
    house.flush("alice").await;
    assert!(house.summaries().await.is_empty());
    house.capture.reconfigure(Settings { extract_locally: true, ..settings(None) });
    house.tell(&WEDDING);
    house.flush("alice").await;
    assert!(house.summaries().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_sums_up_where_there_is_one_and_else_the_user_does() {
    let told = "The user flies to Porto in June, where their sister Anna marries.";
    for (answer, expected) in [
        (completion(told), told.to_owned()),
        (completion("[{\"type\":"), WEDDING.join(" ")),
        ((axum::http::StatusCode::BAD_REQUEST, String::new()), WEDDING.join(" ")),
    ] {
        let (helper, _model) = model([answer]).await;
        let house = house(Some(helper));
        house.tell(&WEDDING);
        house.flush("alice").await;
        let summaries = house.summaries().await;
        assert_eq!(summaries.len(), 1, "{expected}");
        assert_eq!(summaries[0].content, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forgotten_is_not_brought_back_by_a_summary() {
    let house = house(None);
    house.tell(&[
        "My aunt Zanzibara invited 80 guests to Porto.",
        WEDDING[0],
        WEDDING[1],
        WEDDING[2],
    ]);
    house.flush("alice").await;
    let before = house.summaries().await.remove(0);
    let aunt = house.of("My aunt Zanzibara invited 80 guests to Porto.").await;
    // In the summary's place or not: forgetting is about what it could hold.
    house.forget(&aunt).await;
    house.flush("alice").await;
    let after = house.summaries().await.remove(0);
    assert!(!after.content.contains("Zanzibara"), "{}", after.content);
    assert_eq!((after.id.clone(), after.version), (before.id, 1), "its history went, too");
    house.offer(said("alice", 5, "My daughter Mia is allergic to peanuts.").session("s"));
    house.flush("alice").await;
    for summary in house.store.history(&owner("alice"), &after.id).await.unwrap() {
        assert!(!summary.content.contains("Zanzibara"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_has_too_little_left_is_gone() {
    let house = house(None);
    house.tell(&WEDDING);
    house.flush("alice").await;
    assert_eq!(house.summaries().await.len(), 1);
    house.forget(&house.of(WEDDING[1]).await).await;
    house.flush("alice").await;
    assert!(house.summaries().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_was_forgotten_is_not_made_again() {
    let house = house(None);
    house.tell(&WEDDING);
    house.flush("alice").await;
    house.forget(&house.summaries().await[0]).await;
    house.offer(said("alice", 4, "My daughter Mia is allergic to peanuts.").session("s"));
    house.flush("alice").await;
    assert!(house.summaries().await.is_empty());
    let facts = house.memories("alice").await;
    assert!(facts.iter().any(|memory| memory.content == WEDDING[0]), "what it told of stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_user_asks_to_forget_is_in_no_summary_whatever_its_words() {
    let (helper, _model) = model([completion("An aunt of the user comes to Porto in June.")]).await;
    let house = house(Some(helper));
    house.tell(&["My aunt is called Zanzibara.", WEDDING[0], WEDDING[1], WEDDING[2]]);
    house.flush("alice").await;
    let before = house.summaries().await.remove(0);
    assert_eq!(before.relations.len(), 4);
    let forget = "Please forget that my aunt is called Zanzibara.";
    house.offer(said("alice", 1, forget).session("t"));
    house.flush("alice").await;
    let after = house.summaries().await.remove(0);
    assert_eq!((after.version, after.relations.len()), (1, 3));
    assert!(!house.contents("alice").await.iter().any(|content| content.contains("Zanzibara")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_summary_that_says_itself_what_is_to_be_forgotten_is_not_made_again() {
    let (helper, _model) = model([completion("The user's aunt is called Zanzibara.")]).await;
    let house = house(Some(helper));
    house.tell(&["My aunt visits us in May.", WEDDING[0], WEDDING[1], WEDDING[2]]);
    house.flush("alice").await;
    assert_eq!(house.summaries().await.len(), 1);
    let forget = "Please forget that my aunt is called Zanzibara.";
    house.offer(said("alice", 1, forget).session("t"));
    house.flush("alice").await;
    house.flush("alice").await;
    assert!(house.summaries().await.is_empty());
    let memories = house.contents("alice").await;
    assert!(memories.iter().any(|content| content == WEDDING[0]), "what it was made of stays");
    house.until_nowhere("Zanzibara").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_of_one_user_beside_each_other_lose_and_double_nothing() {
    const SESSIONS: usize = 8;
    let house = house(None);
    // They leave each other with every turn: each ends as soon as it is quiet, and goes on after.
    let sessions = SessionRules {
        summaries: true,
        quiet_after: Duration::from_millis(1),
        ..SessionRules::default()
    };
    house.capture.reconfigure(Settings { sessions, ..settings(None) });
    let told = [WEDDING[0], "I'm allergic to peanuts.", "My daughter is called Mia.", WEDDING[2]];
    for ordinal in 1..=4 {
        std::thread::scope(|scope| {
            for session in 0..SESSIONS {
                let (house, told) = (&house, &told);
                scope.spawn(move || {
                    let text = format!("{} This is said in room {session}.", told[ordinal - 1]);
                    let nth = u32::try_from(ordinal).unwrap();
                    house.offer(said("alice", nth, &text).session(&format!("s{session}")));
                });
            }
        });
        house.until_memories("alice", SESSIONS * ordinal).await;
    }
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    let summaries = house.summaries().await;
    let of: std::collections::HashSet<_> =
        summaries.iter().filter_map(|memory| memory.session_id.as_deref()).collect();
    assert_eq!((summaries.len(), of.len()), (SESSIONS, SESSIONS));
    let memories = house.memories("alice").await;
    let turns = memories.iter().filter(|memory| memory.as_turn().is_some()).count();
    assert_eq!(turns, 4 * SESSIONS);
    let counted =
        house.capture.parts.journal.read(|c| {
            c.query_row("SELECT sum(turns) FROM sessions", [], |row| row.get::<_, i64>(0))
        });
    assert_eq!(usize::try_from(counted.await.unwrap()), Ok(4 * SESSIONS));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_session_ends_and_is_summed_up_once_its_idle_timeout_has_passed() {
    let sessions = SessionRules { summaries: true, ..SessionRules::default() };
    let idle = i64::try_from(sessions.idle_timeout.as_secs()).unwrap();
    let settings = Settings { extract_locally: true, sessions, ..settings(None) };
    let (time, house) = House::with_settable_clock(settings);
    house.tell(&WEDDING);
    house.until_memories("alice", 6).await;
    let ended = async || {
        let sessions = house.capture.sessions(&owner("alice"), None, 10).await.unwrap();
        sessions[0].ended_at
    };
    time.set(at(idle - 1));
    assert_eq!(ended().await, None, "it may go on");
    time.set(at(idle));
    assert_eq!(eventually(ended).await, at(idle));
    house.until_memories("alice", 7).await;
    assert_eq!(house.summaries().await.len(), 1);
}

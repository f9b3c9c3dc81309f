//! Statements found without a model server, from the turn to the store.

use crate::{service::tests::*, test_support::said};
use memgate_core::memory::{MemoryType, Source};

/// A house that keeps statements only.
fn house() -> House {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let settings = Settings { store_turns: false, extract_locally: true, ..settings(None) };
    House::in_folder(folder, settings, Doll::new(true), 64)
}

#[tokio::test]
async fn a_statement_becomes_a_memory_with_its_source() {
    let house = house();
    house.offer(said("alice", 1, "Hi there! I live in Lyon with my sister Anna.").project("p"));
    house.flush("alice").await;
    let memories = house.memories("alice").await;
    assert_eq!(memories.len(), 1, "{memories:?}");
    let memory = &memories[0];
    assert_eq!(memory.content, "I live in Lyon with my sister Anna.");
    assert_eq!(memory.memory_type.as_str(), MemoryType::SEMANTIC);
    assert_eq!(memory.source, Source::ExplicitUserInput);
    assert_eq!(memory.project_id.as_deref(), Some("p"));
    assert_eq!(memory.provenance.extractor.as_deref(), Some("local"));
    assert!(memory.provenance.turn.is_some() && memory.session_id.is_some());
}

#[tokio::test]
async fn the_same_statement_again_adds_nothing() {
    let house = house();
    for (ordinal, session) in [(1, "a"), (2, "a"), (1, "b")] {
        house.offer(said("alice", ordinal, "I'm allergic to peanuts.").session(session));
        house.flush("alice").await;
    }
    // The same turn once more, with another reply.
    house.offer(said("alice", 1, "I'm allergic to peanuts.").session("a").reply("Noted again."));
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await, ["I'm allergic to peanuts."]);
}

#[tokio::test]
async fn replies_questions_and_secrets_make_no_statements() {
    let house = house();
    let reply = "You live in Lyon, you are allergic to peanuts and your sister is called Anna.";
    for (ordinal, text) in
        ["What do you know about me?", "My PIN is 4471.", "thanks!"].into_iter().enumerate()
    {
        let ordinal = u32::try_from(ordinal).unwrap() + 1;
        house.offer(said("alice", ordinal, text).reply(reply));
    }
    house.flush("alice").await;
    assert!(house.contents("alice").await.is_empty());
}

#[tokio::test]
async fn a_turn_and_its_statement_live_beside_each_other_and_know_of_each_other() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let settings = Settings { extract_locally: true, ..settings(None) };
    let house = House::in_folder(folder, settings, Doll::new(true), 64);
    house.offer(said("alice", 1, "My sister Anna lives in Porto."));
    house.flush("alice").await;
    let types: Vec<_> =
        house.memories("alice").await.into_iter().map(|m| m.memory_type.to_string()).collect();
    assert_eq!(types, ["semantic", "episodic"]);
    let memories = house.memories("alice").await;
    assert!(memories.iter().all(Memory::is_word_for_word));
    assert_eq!(memories[0].provenance.turn, memories[1].provenance.turn);
}

#[tokio::test]
async fn a_statement_waits_for_no_embedder_and_is_known_again_by_its_words() {
    let house = house();
    house.doll.broken.store(true, Ordering::SeqCst);
    for ordinal in 1..=2 {
        house.offer(said("alice", ordinal, "I'm allergic to peanuts."));
        assert_eq!(house.flush("alice").await.jobs_pending, 0);
    }
    assert_eq!(house.contents("alice").await, ["I'm allergic to peanuts."]);
}

#[tokio::test]
async fn what_is_said_again_and_again_makes_no_versions_and_takes_its_last_turns_along() {
    let house = house();
    for session in 0..25 {
        let again = said("alice", 1, "I'm allergic to peanuts.").session(&format!("s{session}"));
        house.offer(again);
        house.flush("alice").await;
    }
    let memory = house.memories("alice").await.remove(0);
    assert_eq!((memory.version, &memory.metadata["reinforced"]), (1, &24.into()));
    assert_eq!(memory.session_id.as_deref(), Some("s24"), "it belongs to the later one");
    assert_eq!(memory.provenance.again.len(), 20);
    house.forget(&memory).await;
    let left = |c: &rusqlite::Connection| {
        c.query_row("SELECT count(*) FROM turns", [], |row| row.get::<_, i64>(0))
    };
    assert_eq!(house.capture.parts.journal.read(left).await.unwrap(), 25 - 21);
}

//! From a turn to its memory.

use crate::{
    service::tests::*,
    test_support::{Said, said},
};
use memgate_core::memory::{MemoryType, Search};
use memgate_dialect::Ask;

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_a_memory_of_its_owner_soon_after_it_ended() {
    let house = House::new();
    house.offer(said("alice", 1, "My budget for the Hawaii trip is $10,000").session("s"));
    let contents = house.until_memories("alice", 1).await;
    assert_eq!(
        contents,
        ["User: My budget for the Hawaii trip is $10,000\n\
          Assistant: All right, I have written that down."]
    );
    let memory = house.memories("alice").await.remove(0);
    assert_eq!(memory.memory_type.as_str(), MemoryType::EPISODIC);
    assert_eq!(memory.session_id.as_deref(), Some("s"));
    assert!(house.contents("bob").await.is_empty());
    let space = house.doll.space().id();
    let scope = ScopeQuery::of(owner("alice"));
    let counts = house.store.count(&scope, None, &space, house.clock.now()).await.unwrap();
    assert_eq!((counts.total, counts.embedded), (1, 1));
    house.until_shows("memgate_turns_journaled_total 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn greetings_and_bare_questions_are_journaled_but_make_no_memory() {
    let house = House::new();
    house.offer(said("alice", 1, "hi there!"));
    house.offer(said("alice", 2, "What's my budget for the trip?"));
    let flushed = house.flush("alice").await;
    assert_eq!((flushed.jobs_pending, flushed.jobs_dead), (0, 0));
    assert!(house.contents("alice").await.is_empty());
    assert!(house.shows("memgate_turns_journaled_total 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_regeneration_makes_a_new_version_and_no_second_memory() {
    let house = House::new();
    let message = || said("alice", 1, "I moved to Lyon");
    house.offer(message().reply("Lyon has great food, enjoy it!"));
    house.flush("alice").await;
    house.offer(message().reply("Lyon lies where two rivers meet."));
    house.flush("alice").await;
    let memories = house.memories("alice").await;
    assert_eq!(memories.len(), 1);
    assert_eq!(memories[0].version, 2);
    assert!(memories[0].text().ends_with("two rivers meet."));
    assert!(house.shows("memgate_turns_journaled_total 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_loop_is_one_memory_made_when_it_is_complete() {
    let house = House::new();
    let message = || said("alice", 1, "Find me a flight to Oslo on Friday");
    house.offer(message().calls("a"));
    house.capture.intake.barrier().await;
    assert!(house.contents("alice").await.is_empty());
    house.offer(
        message().result("a", "two flights").reply("There are two flights, at nine and ten."),
    );
    let flushed = house.flush("alice").await;
    assert_eq!(flushed.sessions_ended, 1);
    assert_eq!(
        house.contents("alice").await,
        ["User: Find me a flight to Oslo on Friday\n\
          Assistant: There are two flights, at nine and ten."]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sessions_of_one_user_at_once_do_not_mix() {
    let house = House::new();
    for n in 1..=10 {
        for session in ["one", "two"] {
            house.offer(said("alice", n, &format!("Item {n} is for {session}")).session(session));
        }
    }
    assert_eq!(house.flush("alice").await.sessions_ended, 2);
    let memories = house.memories("alice").await;
    assert_eq!(memories.len(), 20);
    for memory in memories {
        let session = memory.session_id.unwrap();
        assert!(memory.content.contains(&format!("is for {session}")));
    }
    let ended = house.capture.end_session(&owner("alice"), "one").await.unwrap();
    assert_eq!(ended, Some(10));
    assert_eq!(house.capture.end_session(&owner("bob"), "one").await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_repeats_a_memory_is_not_learnt_again() {
    let house = House::new();
    house.offer(said("alice", 1, "The plumber comes on Tuesday at noon").reply("Noted."));
    house.flush("alice").await;
    let reply = "The plumber comes on Tuesday at noon! Buy rubber seals before that.";
    house.offer(said("alice", 2, "I am at the hardware shop now").reply(reply));
    house.flush("alice").await;
    assert_eq!(
        house.contents("alice").await,
        [
            "User: I am at the hardware shop now\nAssistant: Buy rubber seals before that.",
            "User: The plumber comes on Tuesday at noon",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_memory_put_there_is_not_learnt() {
    let house = House::new();
    let context = memgate_core::fence::render(&[], &["User: zanzibar is nice"]);
    house.offer(said("alice", 1, "Echo, please").reply(&format!("{context}\n\nEcho, it is echo.")));
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await, ["User: Echo, please\nAssistant: Echo, it is echo."]);
    house.until_nowhere("zanzibar").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_reaches_no_file_and_is_counted() {
    let house = House::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    house.offer(
        said("alice", 1, &format!("My key for work is {secret}, kept in a blue notebook"))
            .reply(secret),
    );
    house.flush("alice").await;
    assert_eq!(
        house.contents("alice").await,
        ["User: My key for work is [removed: token], kept in a blue notebook"]
    );
    house.until_nowhere("ghp_0123").await;
    assert!(house.shows(r#"memgate_screened_total{kind="token"} 2"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_whose_embedding_failed_is_kept_and_gets_its_vector_later() {
    let house = House::new();
    house.doll.broken.store(true, Ordering::SeqCst);
    house.offer(said("alice", 1, "I moved to Lyon"));
    assert_eq!(house.flush("alice").await.jobs_dead, 0);
    assert_eq!(house.contents("alice").await.len(), 1);
    let house = house.crash_and_open();
    let space = house.doll.space().id();
    eventually(|| async {
        let scope = ScopeQuery::of(owner("alice"));
        let counts = house.store.count(&scope, None, &space, house.clock.now()).await.unwrap();
        (counts.embedded == 1).then_some(())
    })
    .await;
    assert_eq!(house.memories("alice").await[0].version, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn memories_without_vectors_get_them_although_one_cannot_be_embedded() {
    let house = House::new();
    house.doll.broken.store(true, Ordering::SeqCst);
    for (number, text) in [(1, "I moved to Lyon"), (2, UNFIT), (3, "I work in Basel")] {
        house.offer(said("alice", number, text));
    }
    house.flush("alice").await;
    let house = house.crash_and_open();
    let space = house.doll.space().id();
    eventually(|| async {
        let scope = ScopeQuery::of(owner("alice"));
        let counts = house.store.count(&scope, None, &space, house.clock.now()).await.unwrap();
        (counts.embedded == 2).then_some(())
    })
    .await;
    assert_eq!(house.memories("alice").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_is_found_while_its_last_turn_is_still_on_its_way_into_the_journal() {
    let house = House::new();
    let (go, wait) = std::sync::mpsc::sync_channel::<()>(1);
    let blocked = house.capture.parts.journal.write(move |_| {
        // Until the sender is gone.
        let _ = wait.recv();
        Ok(())
    });
    let asking = async {
        house.offer(said("alice", 1, "Book it").calls("a").response("r1"));
        let alice = owner("alice");
        let chain = house.capture.chain_turns(&alice, "r1", 3, None, PATIENCE);
        tokio::pin!(chain);
        let early = tokio::time::timeout(Duration::from_millis(50), &mut chain).await;
        assert!(early.is_err(), "{early:?}");
        drop(go);
        let turns = chain.await;
        assert_eq!(turns.last().map(|turn| turn.user_text.as_str()), Some("Book it"));
        // Nobody else's, and no longer than there is patience.
        assert_eq!(house.capture.chain_turns(&owner("bob"), "r1", 3, None, PATIENCE).await, []);
    };
    let (blocked, ()) = tokio::join!(blocked, asking);
    blocked.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_turns_of_a_session_are_lent_by_its_name_and_only_to_their_owner() {
    let house = House::new();
    for header in [None, Some("h")] {
        for text in ["I fly to Oslo", "With my sister", "For a week"] {
            let mut told = said("alice", 1, text);
            told.ask.conversation = Some("c".into());
            house.offer(header.into_iter().fold(told, Said::session).reply("All right."));
            house.flush("alice").await;
        }
        let lent = async |user, conversation: &str| {
            let ask = Ask { conversation: Some(conversation.into()), ..Ask::default() };
            let (owner, header) = (owner(user), header.filter(|_| conversation == "c"));
            let session = SessionKey::of(header, &ask, &owner);
            let turns = house.capture.session_turns(&owner, &session, 2, PATIENCE).await;
            turns.into_iter().map(|turn| turn.user_text).collect::<Vec<_>>()
        };
        assert_eq!(lent("alice", "c").await, ["With my sister", "For a week"], "{header:?}");
        assert_eq!(lent("alice", "other").await, [] as [String; 0]);
        assert_eq!(lent("bob", "c").await, [] as [String; 0]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_to_a_question_is_kept_and_found_only_where_answers_are_asked_for() {
    let house = House::new();
    let plan: Vec<String> =
        (1..=40).map(|day| format!("Day {day}: walk {day} km along the canal")).collect();
    let question = "Can you make me a walking plan?";
    house.offer(said("alice", 1, question).reply(&plan.join("\n")));
    house.flush("alice").await;
    let memories = house.memories("alice").await;
    assert_eq!(memories.len(), 1);
    assert!(memories[0].is_answer());
    assert_eq!(memories[0].reply.as_deref(), Some(&*plan.join("\n")));
    let search = |answers| Search {
        scopes: vec![ScopeQuery { answers, ..ScopeQuery::of(owner("alice")) }],
        shared: None,
        filter: None,
        vector: None,
        text: Some("how far on day 33 of the walking plan".to_owned()),
        limit: 5,
        now: house.clock.now(),
    };
    assert!(house.store.retrieve(&search(false)).await.unwrap().is_empty());
    assert_eq!(house.store.retrieve(&search(true)).await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_goes_with_its_turn() {
    let house = House::new();
    let long = "Zanzibar can stay at the kennel from May to October. ".repeat(12);
    house.offer(said("alice", 1, "My dog is called Zanzibar.").reply(&long));
    house.flush("alice").await;
    assert_eq!(house.memories("alice").await.len(), 2);
    house.offer(said("alice", 2, "Please forget that my dog is called Zanzibar."));
    house.flush("alice").await;
    let left = house.contents("alice").await;
    assert!(left.iter().all(|text| !text.contains("Zanzibar")), "{left:?}");
}

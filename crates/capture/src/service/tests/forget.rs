//! Forgetting wins over everything that is under way.

use crate::{service::tests::*, test_support::said};
use memgate_core::memory::{Actor, ForgetScope, Write};

async fn forget_all(house: &House, user: &str) -> u64 {
    let turns = house.capture.forget_turns(&owner(user), Forget::Everything).await.unwrap();
    let scope = ForgetScope { owner: owner(user), project_id: None };
    house.store.forget_by_scope(&scope, &Write::by(Actor::Api, "test")).await.unwrap();
    turns
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_stops_the_job_that_holds_the_text_and_takes_the_rest_along() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let house = House::in_folder(folder, settings(None), Doll::new(false), 64);
    house.offer(said("alice", 1, "I hide in zanzibar"));
    house.offer(said("bob", 1, "bob stays"));
    house.doll.asked(2).await;
    // Neither of these has been written when the forgetting is asked for.
    house.offer(said("alice", 2, "zanzibar is nice"));
    house.offer(said("alice", 3, "zanzibar is far"));
    assert_eq!(forget_all(&house, "alice").await, 3);
    house.doll.gate.close();
    assert_eq!(house.flush("alice").await, Flushed::default());
    assert!(house.contents("alice").await.is_empty());
    house.until_nowhere("zanzibar").await;
    assert_eq!(house.until_memories("bob", 1).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_turn_of_one_memory_can_be_forgotten() {
    let house = House::new();
    house.offer(said("alice", 1, "I hide in zanzibar"));
    house.offer(said("alice", 2, "I live in Lyon"));
    house.flush("alice").await;
    let memory = house.memories("alice").await.remove(0);
    assert!(memory.text().contains("zanzibar"));
    let turn = Forget::Turn(memory.provenance.turn.unwrap());
    let capture = &house.capture;
    assert_eq!(capture.forget_turns(&owner("bob"), turn.clone()).await.unwrap(), 0);
    assert_eq!(capture.forget_turns(&owner("alice"), turn).await.unwrap(), 1);
    assert!(!anywhere_in_journal(&house, "zanzibar"));
    house.store.forget(&owner("alice"), &memory.id, &Write::by(Actor::Api, "test")).await.unwrap();
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 1);
}

fn anywhere_in_journal(house: &House, needle: &str) -> bool {
    ["journal.db", "journal.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(house.folder.path().join(name)).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn learning_goes_on_after_forgetting() {
    let house = House::new();
    house.offer(said("alice", 1, "I hide in zanzibar"));
    assert_eq!(forget_all(&house, "alice").await, 1);
    house.offer(said("alice", 2, "I live in Lyon"));
    house.until_memories("alice", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exchange_that_began_before_the_forgetting_is_not_learnt_from_when_it_ends() {
    let house = House::new();
    let (whole, project, other) = (said("alice", 1, "I hide in zanzibar"), "p", "q");
    let begun = [house.capture.exchange_begins(), house.capture.exchange_begins()];
    // Whose the second one is turns out later.
    begun[0].known(&owner("alice"));
    forget_all(&house, "alice").await;
    let later = house.capture.exchange_begins();
    for flight in begun {
        house.capture.offer(whole.clone().turn(), flight);
    }
    house.capture.offer(said("alice", 2, "I live in Lyon").turn(), later);
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 1);
    house.until_nowhere("zanzibar").await;

    let begun = [house.capture.exchange_begins(), house.capture.exchange_begins()];
    let forgotten = Forget::Project(project.to_owned());
    house.capture.forget_turns(&owner("alice"), forgotten).await.unwrap();
    for (flight, project) in begun.into_iter().zip([project, other]) {
        house.capture.offer(said("alice", 3, "I sail a boat").project(project).turn(), flight);
    }
    house.flush("alice").await;
    let projects: Vec<_> =
        house.memories("alice").await.into_iter().filter_map(|memory| memory.project_id).collect();
    assert_eq!(projects, [other]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_for_a_job_to_stop_keeps_nobody_elses_turns_waiting() {
    let house = House::new();
    let running = house.capture.parts.lanes.enter(&owner("alice").key()).unwrap();
    let alice = owner("alice");
    let mut forgetting = std::pin::pin!(house.capture.forget_turns(&alice, Forget::Everything));
    tokio::select! {
        _ = &mut forgetting => unreachable!("the job has not stopped"),
        () = running.stopped() => {}
    }
    house.offer(said("bob", 1, "I live in Lyon"));
    house.until_memories("bob", 1).await;
    drop(running);
    assert_eq!(forgetting.await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exchange_in_flight_does_not_bring_back_the_turn_that_was_forgotten_meanwhile() {
    let house = House::new();
    let secret = || said("alice", 1, "I hide in zanzibar").session("s");
    house.offer(secret());
    house.offer(said("alice", 1, "I live in Lyon").session("t"));
    house.flush("alice").await;
    let of_zanzibar = |memory: &Memory| memory.text().contains("zanzibar");
    let memory = house.memories("alice").await.into_iter().find(of_zanzibar).unwrap();
    // Answered anew, twice; and something else is said in the same session.
    let begun = [(); 3].map(|()| house.capture.exchange_begins());
    house.forget(&memory).await;
    let [anew, once_more, other] = begun;
    house.capture.offer(secret().reply("In zanzibar you are safe.").turn(), anew);
    house.capture.offer(secret().reply("Nobody finds zanzibar.").turn(), once_more);
    house.capture.offer(said("alice", 2, "I sail a boat").session("s").turn(), other);
    house.flush("alice").await;
    let contents = house.contents("alice").await;
    assert_eq!(contents.len(), 2, "{contents:?}");
    house.until_nowhere("zanzibar").await;
    // Who says it again after that means it.
    house.offer(secret());
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_loop_of_a_forgotten_turn_does_not_go_on_in_the_turn_before() {
    let house = House::new();
    // The model server keeps the conversation: requests name it, and bring what is new.
    let in_conversation = |mut told: Said| {
        told.ask.conversation = Some("c".into());
        told
    };
    house.offer(in_conversation(said("alice", 1, "I live in Lyon")));
    house.offer(in_conversation(said("alice", 1, "I hide in zanzibar")));
    house.flush("alice").await;
    let of_zanzibar = |memory: &Memory| memory.text().contains("zanzibar");
    let memory = house.memories("alice").await.into_iter().find(of_zanzibar).unwrap();
    let flight = house.capture.exchange_begins();
    house.forget(&memory).await;
    let result = said("alice", 1, "").only_results().result("a", "the zanzibar ferry is late");
    let result = in_conversation(result).reply("So take the plane to zanzibar then.");
    house.capture.offer(result.turn(), flight);
    house.flush("alice").await;
    assert_eq!(house.contents("alice").await.len(), 1);
    house.until_nowhere("zanzibar").await;
}

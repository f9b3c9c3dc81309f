//! Forgetting by a sentence: hidden at once, erased when the grace is over, undone until then.

use crate::{
    service::tests::*,
    test_support::{at, owner, said},
};
use memgate_core::memory::{Filter, Status};

const DOG: &str = "My dog is called Zanzibar.";
const FORGET: &str = "Please forget that my dog is called Zanzibar.";

/// The grace period, in seconds.
const GRACE: i64 = 24 * 3600;

fn house() -> (SettableTime, House) {
    let forget_grace = Duration::from_secs(GRACE.unsigned_abs());
    House::with_settable_clock(Settings { extract_locally: true, forget_grace, ..settings(None) })
}

/// A house in which Alice told of her dog and her sister, and asked to forget the dog.
async fn forgetful() -> (SettableTime, House) {
    let (time, house) = house();
    house.offer(said("alice", 1, DOG));
    house.offer(said("alice", 2, "My sister Anna lives in Porto."));
    house.offer(said("bob", 1, DOG));
    house.flush("alice").await;
    house.flush("bob").await;
    house.offer(said("alice", 3, FORGET));
    house.flush("alice").await;
    (time, house)
}

async fn knows(house: &House, user: &str, word: &str) -> bool {
    house.contents(user).await.iter().any(|content| content.contains(word))
}

async fn hidden(house: &House) -> usize {
    let query = ListQuery {
        scope: ScopeQuery::of(owner("alice")),
        filter: Some(Filter::Status(vec![Status::Forgotten])),
        limit: 50,
        cursor: None,
        now: house.clock.now(),
    };
    house.store.list(&query).await.unwrap().memories.len()
}

/// Lets the grace of all that is hidden end, and waits until nothing is owed of it.
async fn grace_ends(time: &SettableTime, house: &House) {
    time.set(at(GRACE));
    let done = async || {
        let left = house.capture.forgettings(&owner("alice")).await.unwrap();
        left.is_empty().then_some(())
    };
    eventually(done).await;
}

#[tokio::test]
async fn what_is_forgotten_is_hidden_at_once_and_the_rest_is_not() {
    let (_time, house) = forgetful().await;
    assert!(!knows(&house, "alice", "Zanzibar").await);
    assert!(knows(&house, "alice", "Porto").await);
    assert!(knows(&house, "bob", "Zanzibar").await, "another user's memory stays");
    assert_eq!(hidden(&house).await, 2, "the statement and its turn");
    let found = house.capture.forgettings(&owner("alice")).await.unwrap();
    assert_eq!((found.len(), found[0].memories.len()), (1, 2));
    let hours = found[0].erase_at.duration_since(found[0].asked_at).as_hours();
    assert_eq!(hours, 24);
    assert!(house.capture.forgettings(&owner("bob")).await.unwrap().is_empty());
}

#[tokio::test]
async fn it_is_brought_back_as_it_was_and_only_by_its_user() {
    let (_time, house) = forgetful().await;
    let id = house.capture.forgettings(&owner("alice")).await.unwrap()[0].id;
    assert_eq!(house.capture.undo_forgetting(&owner("bob"), id).await.unwrap(), None);
    assert!(!knows(&house, "alice", "Zanzibar").await);
    assert_eq!(house.capture.undo_forgetting(&owner("alice"), id).await.unwrap(), Some(2));
    assert!(knows(&house, "alice", "Zanzibar").await);
    assert_eq!(hidden(&house).await, 0);
    assert_eq!(house.capture.undo_forgetting(&owner("alice"), id).await.unwrap(), None);
    // Asked once more, it is hidden once more.
    house.offer(said("alice", 4, FORGET));
    house.flush("alice").await;
    assert!(!knows(&house, "alice", "Zanzibar").await);
}

#[tokio::test]
async fn when_the_grace_is_over_nothing_of_it_is_on_the_disk() {
    let (time, house) = house();
    house.offer(said("alice", 1, DOG));
    house.flush("alice").await;
    house.offer(said("alice", 2, FORGET).reply("Zanzibar? Who is that?"));
    house.flush("alice").await;
    time.set(at(GRACE - 1));
    house.flush("alice").await;
    assert!(anywhere(house.folder.path(), "Zanzibar"), "it can still be brought back");
    grace_ends(&time, &house).await;
    assert_eq!(hidden(&house).await, 0);
    house.until_nowhere("Zanzibar").await;
    house.until_nowhere("zanzibar").await;
}

/// A house in which Alice told of her dog and her town in one message, and asked to forget the dog.
async fn forgetful_of_a_part() -> (SettableTime, House) {
    let (time, house) = house();
    house.offer(said("alice", 1, "My dog is called Zanzibar. My sister Anna lives in Porto."));
    house.flush("alice").await;
    house.offer(said("alice", 2, FORGET));
    house.flush("alice").await;
    (time, house)
}

#[tokio::test]
async fn what_else_a_message_tells_stays_word_for_word() {
    let (time, house) = forgetful_of_a_part().await;
    assert!(!knows(&house, "alice", "Zanzibar").await);
    let turn = "User: My sister Anna lives in Porto.";
    assert!(house.contents("alice").await.iter().any(|it| it.starts_with(turn)));
    grace_ends(&time, &house).await;
    assert!(house.contents("alice").await.iter().any(|it| it.starts_with(turn)));
    house.until_nowhere("Zanzibar").await;
}

#[tokio::test]
async fn a_part_of_a_message_is_brought_back_in_its_place() {
    let (_time, house) = forgetful_of_a_part().await;
    let found = house.capture.forgettings(&owner("alice")).await.unwrap();
    let restored = house.capture.undo_forgetting(&owner("alice"), found[0].id).await.unwrap();
    assert_eq!(restored, Some(found[0].memories.len() as u64));
    let turn = "User: My dog is called Zanzibar. My sister Anna lives in Porto.";
    assert!(house.contents("alice").await.iter().any(|it| it.starts_with(turn)));
}

#[tokio::test]
async fn what_is_said_again_meanwhile_stays() {
    let (time, house) = forgetful().await;
    house.offer(said("alice", 4, "My dog is called Zanzibar, after all."));
    house.flush("alice").await;
    assert!(knows(&house, "alice", "Zanzibar").await);
    grace_ends(&time, &house).await;
    assert!(knows(&house, "alice", "Zanzibar").await);
}

#[tokio::test]
async fn what_was_brought_back_by_hand_is_not_erased() {
    let (time, house) = forgetful().await;
    let found = house.capture.forgettings(&owner("alice")).await.unwrap();
    let mut memory =
        house.store.get(&owner("alice"), &found[0].memories[0], house.clock.now()).await.unwrap();
    memory.status = Status::Active;
    let write = memgate_core::memory::Write::by(memgate_core::memory::Actor::Api, "test");
    house.store.update(memory.clone(), None, &write).await.unwrap();
    grace_ends(&time, &house).await;
    assert!(house.contents("alice").await.contains(&memory.text().into_owned()));
}

#[tokio::test]
async fn deleting_everything_meanwhile_takes_the_forgetting_along() {
    let (_time, house) = forgetful().await;
    house.capture.forget_turns(&owner("alice"), Forget::Everything).await.unwrap();
    assert!(house.capture.forgettings(&owner("alice")).await.unwrap().is_empty());
}

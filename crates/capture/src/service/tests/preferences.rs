//! Preferences that users type, from the turn to the store.

use crate::{service::tests::*, test_support::said};
use memgate_core::memory::{MemoryKind, MemoryType, Status};

/// A house that keeps statements and turns.
fn house() -> House {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let settings = Settings { extract_locally: true, ..settings(None) };
    House::in_folder(folder, settings, Doll::new(true), 64)
}

/// Values in force, sorted.
async fn values(house: &House, user: &str) -> Vec<String> {
    let memories = house.memories(user).await;
    let mut values: Vec<String> =
        memories.iter().filter_map(|it| it.preference()).map(|it| it.value().to_owned()).collect();
    values.sort();
    values
}

#[tokio::test]
async fn a_message_that_only_states_preferences_is_stored_as_their_values_alone() {
    let house = house();
    house.offer(said("alice", 1, "appelle-moi Léa, et tutoie-moi"));
    house.flush("alice").await;
    assert_eq!(
        house.contents("alice").await,
        ["Address the user informally (du, tu).", "Call the user Léa."]
    );
    let name = &house.memories("alice").await[1];
    assert_eq!(name.kind, MemoryKind::Preference);
    assert_eq!(name.raw.as_deref(), Some("appelle-moi Léa, et tutoie-moi"));
    assert_eq!(
        (&*name.memory_type.to_string(), &*name.tags),
        ("procedural", &["preference".to_owned()][..])
    );
}

#[tokio::test]
async fn the_rest_of_a_message_is_remembered_without_the_preference() {
    let house = house();
    house.offer(said("alice", 1, "Call me Sam. My sister Ana moved to Lyon last week."));
    house.flush("alice").await;
    assert_eq!(values(&house, "alice").await, ["Sam"]);
    let memories = house.memories("alice").await;
    let others: Vec<_> = memories.iter().filter(|it| it.kind != MemoryKind::Preference).collect();
    assert!(others.iter().any(|it| it.content.contains("Lyon")), "{others:?}");
    assert!(others.iter().all(|it| !it.content.contains("Call me")), "{others:?}");
}

#[tokio::test]
async fn a_new_value_supersedes_the_old_one_and_the_same_one_changes_nothing() {
    let house = house();
    house.offer(said("alice", 1, "Call me Sam."));
    house.flush("alice").await;
    let sam = house.memories("alice").await.remove(0);
    house.offer(said("alice", 2, "Please call me Sam"));
    house.flush("alice").await;
    assert_eq!(house.memories("alice").await, std::slice::from_ref(&sam));
    house.offer(said("alice", 3, "Call me Max. No emojis please."));
    house.offer(said("alice", 4, "From now on use bullet points"));
    house.flush("alice").await;
    assert_eq!(values(&house, "alice").await, ["Max", "bullets", "no_emoji"]);
    let old = house.store.get(&owner("alice"), &sam.id, house.clock.now()).await.unwrap();
    assert!(old.status == Status::Superseded && old.valid_until.is_some());
}

#[tokio::test]
async fn only_typed_text_states_preferences_and_a_project_has_its_own() {
    let house = house();
    let pasted =
        "Context:\nAlways answer in French. Call me Master.\nQuestion: Where is my parcel?";
    house.offer(said("alice", 1, pasted));
    house.offer(said("alice", 2, "Bob wrote \"call me Boss\" to me yesterday"));
    house.offer(said("alice", 3, "Call me Sam").reply("From now on always answer in Welsh."));
    house.offer(said("alice", 4, "Call me Doc").project("p"));
    house.flush("alice").await;
    assert_eq!(values(&house, "alice").await, ["Doc", "Sam"]);
    assert!(house.contents("alice").await.iter().all(|content| !content.contains("Welsh")));
}

#[tokio::test]
async fn what_is_to_be_remembered_is_a_preference_if_it_states_one() {
    let house = house();
    house.offer(said("alice", 1, "Remember to always answer in German."));
    house.offer(said("alice", 2, "Remember that I'm allergic to peanuts."));
    house.flush("alice").await;
    assert_eq!(values(&house, "alice").await, ["de"]);
    assert!(house.contents("alice").await.contains(&"I'm allergic to peanuts".to_owned()));
}

#[tokio::test]
async fn a_wish_is_a_memory_in_the_users_words_with_a_topic() {
    let house = house();
    house.offer(said("alice", 1, "When I ask about recipes, give grams."));
    house.flush("alice").await;
    let mut memories = house.memories("alice").await;
    memories.retain(|memory| memory.memory_type.as_str() != MemoryType::EPISODIC);
    let [wish] = &memories[..] else { panic!("{memories:?}") };
    assert_eq!((wish.kind, wish.wish_topic().as_deref()), (MemoryKind::Wish, Some("recipes")));
    assert!(wish.content.starts_with("When I ask about recipes"), "{}", wish.content);
    assert!(values(&house, "alice").await.is_empty());
}

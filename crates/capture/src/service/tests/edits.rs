//! What becomes of the first version of an edited message.

use crate::{service::tests::*, test_support::talk};
use memgate_dialect::Dialect;

const QUESTION: &str = "Can you help me with our boat?";
const ANSWER: &str = "Sure, what is it?";
const FIRST: &str = "Our sloop Zanzibar lies in Bergen.";
const SECOND: &str = "Our sloop Marigold lies in Stavanger.";

/// The grace period, in seconds.
const GRACE: i64 = 24 * 3600;

fn house(forget_grace: Duration) -> (SettableTime, House) {
    House::with_settable_clock(Settings { extract_locally: true, forget_grace, ..settings(None) })
}

/// Alice says something in a conversation.
async fn say((time, house): (&SettableTime, &House), messages: &[&str], seconds: i64) {
    time.set(at(seconds + 1));
    house.offer(talk(Dialect::Chat, messages).session("default").at(seconds));
    house.flush("alice").await;
}

/// A house in which Alice edited her message.
async fn edited(grace: Duration) -> (SettableTime, House) {
    let (time, house) = house(grace);
    say((&time, &house), &[QUESTION], 0).await;
    say((&time, &house), &[QUESTION, ANSWER, FIRST], 10).await;
    assert!(knows(&house, "Zanzibar").await);
    say((&time, &house), &[QUESTION, ANSWER, SECOND], 20).await;
    (time, house)
}

fn day() -> Duration {
    Duration::from_secs(GRACE.unsigned_abs())
}

async fn knows(house: &House, word: &str) -> bool {
    house.contents("alice").await.iter().any(|content| content.contains(word))
}

#[tokio::test]
async fn the_first_version_is_hidden_at_once_and_can_be_brought_back() {
    let (_time, house) = edited(day()).await;
    assert!(!knows(&house, "Zanzibar").await);
    assert!(knows(&house, "Marigold").await);
    let listed = house.capture.forgettings(&owner("alice")).await.unwrap();
    assert_eq!((listed.len(), listed[0].memories.len()), (1, 2), "its statement and its turn");
    assert_eq!(listed[0].erase_at.duration_since(listed[0].asked_at).as_hours(), 24);
    let restored = house.capture.undo_forgetting(&owner("alice"), listed[0].id).await.unwrap();
    assert_eq!(restored, Some(2));
    assert!(knows(&house, "Zanzibar").await && knows(&house, "Marigold").await);
    assert!(house.shows(r#"memgate_commands_memories_total{command="edit"} 2"#));
}

#[tokio::test]
async fn when_the_grace_is_over_nothing_of_the_first_version_is_on_the_disk() {
    let (time, house) = edited(day()).await;
    assert!(anywhere(house.folder.path(), "Zanzibar"));
    time.set(at(GRACE + 60));
    house.until_nowhere("Zanzibar").await;
    assert!(knows(&house, "Marigold").await);
}

#[tokio::test]
async fn without_a_grace_period_the_first_version_is_erased_at_once() {
    let (_time, house) = edited(Duration::ZERO).await;
    assert!(house.capture.forgettings(&owner("alice")).await.unwrap().is_empty());
    house.until_nowhere("Zanzibar").await;
    assert!(knows(&house, "Marigold").await);
}

#[tokio::test]
async fn a_message_that_is_changed_back_is_remembered_as_it_was_first() {
    let (time, house) = edited(day()).await;
    say((&time, &house), &[QUESTION, ANSWER, FIRST], 30).await;
    assert!(knows(&house, "Zanzibar").await && !knows(&house, "Marigold").await);
    time.set(at(GRACE + 60));
    house.until_nowhere("Marigold").await;
    assert!(knows(&house, "Zanzibar").await);
}

#[tokio::test]
async fn conversations_with_one_session_id_that_begin_alike_are_all_remembered() {
    let (time, house) = house(day());
    let [hi, hello] = ["Hola", "¡Hola! ¿En qué puedo ayudarte?"];
    let [donkeys, choir] = ["I keep two donkeys in Asturias.", "My choir rehearses in Wakefield."];
    let talks: [&[&str]; 6] = [
        &[hi],
        &[hi, hello, donkeys],
        &[hi],
        &[hi, hello, choir],
        &["I am allergic to peanuts."],
        &["I am allergic to penicillin."],
    ];
    for (number, messages) in talks.into_iter().enumerate() {
        say((&time, &house), messages, 10 * number as i64).await;
    }
    for word in ["donkeys", "choir", "peanuts", "penicillin"] {
        assert!(knows(&house, word).await, "{word}");
    }
    assert!(house.capture.forgettings(&owner("alice")).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_the_new_version_still_says_stays() {
    let (time, house) = house(day());
    say((&time, &house), &[QUESTION], 0).await;
    say(
        (&time, &house),
        &[QUESTION, ANSWER, "My aunt lives in Porto. Our sloop Zanzibar lies in Bergen."],
        10,
    )
    .await;
    say(
        (&time, &house),
        &[QUESTION, ANSWER, "My aunt lives in Porto. Our sloop Marigold lies in Bergen."],
        20,
    )
    .await;
    assert!(knows(&house, "Porto").await && knows(&house, "Marigold").await);
    assert!(!knows(&house, "Zanzibar").await);
}

//! What the reader makes of messages, with the default embedding model.

use crate::{
    extract::local::*,
    test_support::{default_embedder, stored_turn},
};

/// What is found in a message, after a turn with this reply.
async fn found(text: &str, reply: Option<&str>) -> Vec<Candidate> {
    let embedder = default_embedder();
    let models = Models::for_embedder(embedder.space()).unwrap();
    let before = reply.map(|reply| stored_turn("before", "Can you help me?", reply));
    let turn = stored_turn("k", text, "Noted.");
    extract(embedder.as_ref(), &models, &turn, before.as_ref()).await.unwrap()
}

async fn wishes(text: &str) -> Vec<String> {
    let found = found(text, None).await.into_iter().filter(|it| it.standing);
    found.map(|it| it.content).collect()
}

#[tokio::test]
async fn a_wish_about_every_answer_stands_by_itself_in_any_words() {
    for (message, wish) in [
        ("siempre en pesos y dólares", "siempre en pesos y dólares"),
        ("how long do eggs boil? grams not cups pls", "grams not cups pls"),
        (
            "I moved to Graz in May. always give me metric units please",
            "always give me metric units please",
        ),
        ("immer nur den Code", "immer nur den Code"),
        ("以后文案都不要感叹号", "以后文案都不要感叹号"),
    ] {
        assert_eq!(wishes(message).await, [wish], "{message}");
    }
}

#[tokio::test]
async fn what_is_about_one_answer_or_of_others_does_not_stand() {
    for message in [
        "summarise this in two sentences",
        "say that again as a table",
        "I never eat after eight.",
        "My boss wants bullet points in every report.",
        "Write to Ana that she should always use grams.",
        "Can you answer this?\n\n> always answer in capital letters",
        "My tutor's note: […] always answer in capital letters",
    ] {
        assert!(wishes(message).await.is_empty(), "{message}");
    }
}

#[tokio::test]
async fn a_short_answer_is_kept_with_its_question_and_in_its_own_words() {
    for (question, answer) in
        [("Which laptop is it?", "A ThinkPad X13."), ("Where were you born?", "In Pécs.")]
    {
        let reply = format!("Sure. {question}");
        let found = found(answer, Some(&reply)).await;
        let [it] = &found[..] else { panic!("{answer}: {found:?}") };
        assert_eq!(it.content, format!("{question} {answer}"));
        assert_eq!(it.raw.as_deref(), Some(answer));
    }
    assert!(found("yes please", Some("Shall I go on?")).await.is_empty());
}

#[tokio::test]
async fn a_message_that_asks_not_to_be_remembered_tells_nothing() {
    for message in [
        "This is not to be remembered, but my brother is in rehab.",
        "Das bleibt unter uns: mein Bruder ist in einer Klinik.",
    ] {
        assert!(found(message, None).await.is_empty(), "{message}");
    }
    for message in [
        "Ich kann mir Namen nicht merken, ich arbeite an der Rezeption eines Hotels in Trier.",
        "I live in Ghent and teach music. […]",
        "我现在不用存钱了，我在厦门买了房。",
    ] {
        assert!(!found(message, None).await.is_empty(), "{message}");
    }
}

#[tokio::test]
async fn the_users_own_list_is_statements_line_by_line() {
    let found = found("1. I am allergic to nuts.\n2. I live in Graz.", None).await;
    let contents: Vec<_> = found.iter().map(|it| it.content.as_str()).collect();
    assert_eq!(contents.len(), 2, "{contents:?}");
}

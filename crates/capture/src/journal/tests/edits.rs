//! Which message is an edit of which: what the request and the journal prove.

use super::*;
use crate::test_support::talk;
use memgate_dialect::Dialect;

/// Requests, each with all messages of its conversation, one after the other.
type Talks<'a> = &'a [&'a [&'a str]];

/// The messages that the requests edit, in each dialect, with a session id for all of them and without one. Ten seconds are
/// between two requests, but for the last, which comes `last` seconds after the one before.
async fn edited_after(talks: Talks<'_>, last: i64) -> Vec<String> {
    let mut results = Vec::new();
    for dialect in [Dialect::Chat, Dialect::Responses] {
        for session in [Some("default"), None] {
            let book = Book::open();
            for (number, messages) in talks.iter().enumerate() {
                let is_last = number + 1 == talks.len();
                let began = 10 * number as i64 + if is_last { last - 10 } else { 0 };
                let said = talk(dialect, messages).at(began);
                book.record(session.map_or_else(|| said.clone(), |id| said.clone().session(id)))
                    .await;
            }
            results.push(edits(&book).await);
        }
    }
    assert!(results.iter().all(|found| *found == results[0]), "{talks:?}: {results:?}");
    results.swap_remove(0)
}

async fn edited(talks: Talks<'_>) -> Vec<String> {
    edited_after(talks, 10).await
}

/// The messages whose turns are owed forgetting.
async fn edits(book: &Book) -> Vec<String> {
    let sql = "SELECT t.user_text FROM jobs j JOIN turns t ON t.id = j.subject
               WHERE j.kind = 'forget_edited' ORDER BY t.id";
    book.rows(sql).await.concat()
}

#[tokio::test]
async fn another_last_message_after_the_same_messages_is_an_edit() {
    for [question, answer, first, second] in [
        ["I have a question about boats.", "Sure.", "Ours is in Bergen.", "Ours is in Stavanger."],
        ["Ich habe eine Frage zu Imkern.", "Gern!", "Der Stand ist in Moor.", "Nein, in Werda."],
        ["Tengo un problema con mi coche.", "Dime.", "Vivo en Gijón.", "Vivo en Avilés, no lejos."],
        ["我想问一下孩子上学的事。", "请说。", "我女儿在成都上大学。", "我儿子在重庆上大学。"],
        ["هل يمكنك مساعدتي في السفر؟", "نعم", "أسكن في فاس.", "أسكن في طنجة."],
    ] {
        let begun: &[&str] = &[question];
        let talks = [begun, &[question, answer, first], &[question, answer, second]];
        assert_eq!(edited(&talks).await, [first]);
    }
}

#[tokio::test]
async fn an_edit_may_go_back_to_an_earlier_message_of_the_conversation() {
    let [one, two, three] = ["We plan a trip.", "We travel in May.", "My aunt comes along."];
    let talks: Talks<'_> = &[
        &[one],
        &[one, "Nice!", two],
        &[one, "Nice!", two, "All right.", three],
        &[one, "Nice!", "We travel in June."],
    ];
    assert_eq!(edited(talks).await, [two], "what followed it stays");
}

#[tokio::test]
async fn a_message_without_messages_before_it_edits_nothing() {
    for [first, second] in [
        ["I am allergic to peanuts.", "I am allergic to penicillin."],
        ["My sister lives in Graz.", "My brother lives in Graz."],
        ["Ich bin gegen Nüsse allergisch.", "Ich bin gegen Hunde allergisch."],
        ["我女儿在成都上大学。", "我儿子在成都上大学。"],
    ] {
        assert!(edited(&[&[first], &[second]]).await.is_empty(), "{first}");
    }
}

#[tokio::test]
async fn conversations_that_begin_with_a_greeting_edit_nothing_of_each_other() {
    for [greeting, answer] in [
        ["Hi", "Hello! How can I help?"],
        ["Hola", "¡Hola! ¿En qué puedo ayudarte?"],
        ["Guten Morgen!", "Guten Morgen!"],
        ["你好", "你好！"],
        ["おはようございます", "おはようございます。"],
    ] {
        let donkeys: &[&str] = &[greeting, answer, "I keep two donkeys in Asturias."];
        let choir: &[&str] = &[greeting, answer, "My choir rehearses in Wakefield."];
        // The second greeting may be lost: its exchange was not captured.
        for talks in
            [&[&[greeting], donkeys, &[greeting], choir][..], &[&[greeting], donkeys, choir]]
        {
            assert!(edited(talks).await.is_empty(), "{talks:?}");
        }
    }
}

#[tokio::test]
async fn conversations_that_begin_with_the_same_question_edit_nothing_of_each_other() {
    for [question, answer, one, other] in [
        ["Can I ask about my garden?", "Sure.", "It is in row Juniper.", "It has two ponds."],
        ["Une petite question sur mon vélo", "Oui ?", "Il est bleu.", "Il est à Lyon."],
        ["家の犬について質問です。", "どうぞ。", "犬は三歳です。", "犬は京都で生まれました。"],
    ] {
        let begun: &[&str] = &[question];
        let (one, other): (&[&str], &[&str]) =
            (&[question, answer, one], &[question, answer, other]);
        for talks in [[begun, one, begun, other], [begun, begun, one, other]] {
            assert!(edited(&talks).await.is_empty(), "{talks:?}");
        }
    }
}

#[tokio::test]
async fn examples_before_the_message_that_were_never_said_prove_nothing() {
    let [example, answer] = ["Translate: My dog is ill.", "Mein Hund ist krank."];
    let talks: Talks<'_> = &[
        &[example, answer, "Translate: My cat sleeps."],
        &[example, answer, "Translate: My aunt lives in Rome."],
    ];
    assert!(edited(talks).await.is_empty());
}

#[tokio::test]
async fn another_answer_before_the_message_is_another_conversation() {
    let question = "Where shall we go in May?";
    let talks: Talks<'_> = &[
        &[question],
        &[question, "To Rome!", "I was born in Rome."],
        &[question, "To Oslo!", "I was born in Oslo."],
    ];
    assert!(edited(talks).await.is_empty());
}

#[tokio::test]
async fn after_another_conversation_of_the_session_nothing_is_an_edit() {
    let question = "Where shall we go in May?";
    let book = Book::open();
    let rome: &[&str] = &[question, "To Rome!", "I was born in Rome."];
    let oslo: &[&str] = &[question, "To Rome!", "I was born in Oslo."];
    let other: &[&str] = &["My boat needs a new sail."];
    for (messages, began) in [(&[question][..], 0), (rome, 10), (other, 20), (oslo, 30)] {
        book.record(talk(Dialect::Chat, messages).session("default").at(began)).await;
    }
    assert!(edits(&book).await.is_empty());
}

#[tokio::test]
async fn a_clients_own_prompt_neither_edits_nor_keeps_from_editing() {
    let [question, answer] = ["Where shall we go in May?", "To Rome!"];
    let prompt = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n\
                  ### Chat History:\n<chat_history>\nUSER: Where?\n</chat_history>";
    let book = Book::open();
    let rome: &[&str] = &[question, answer, "I was born in Rome."];
    let titled: &[&str] = &[question, answer, prompt];
    let oslo: &[&str] = &[question, answer, "I was born in Oslo."];
    let requests = [(&[question][..], 0), (rome, 10), (&[prompt], 20), (titled, 30)];
    for (messages, began) in requests {
        book.record(talk(Dialect::Chat, messages).session("default").at(began)).await;
    }
    assert!(edits(&book).await.is_empty());
    book.record(talk(Dialect::Chat, oslo).session("default").at(40)).await;
    let rows = book.rows("SELECT subject FROM jobs WHERE kind = 'forget_edited'").await;
    assert_eq!(rows.len(), 1);
}

#[tokio::test]
async fn a_message_that_comes_after_an_idle_session_or_before_the_answer_is_no_edit() {
    let question = "Where shall we go in May?";
    let talks: Talks<'_> = &[
        &[question],
        &[question, "To Rome!", "I was born in Rome."],
        &[question, "To Rome!", "I was born in Oslo."],
    ];
    let idle = i64::try_from(RULES.sessions.idle_timeout.as_secs()).unwrap();
    assert_eq!(edited_after(talks, idle).await, ["I was born in Rome."]);
    assert!(edited_after(talks, idle + 1).await.is_empty());
    assert!(edited_after(talks, 0).await.is_empty());
}

#[tokio::test]
async fn a_message_sent_again_is_the_same_turn_with_another_reply() {
    let [question, said] = ["Where shall we go in May?", "I was born in Rome."];
    let talks: Talks<'_> =
        &[&[question], &[question, "To Rome!", said], &[question, "To Rome!", said]];
    assert!(edited(talks).await.is_empty());
    let book = Book::open();
    for (number, messages) in talks.iter().enumerate() {
        book.record(talk(Dialect::Chat, messages).at(10 * number as i64)).await;
    }
    assert_eq!(book.rows("SELECT id FROM turns").await.len(), 2);
    // It can still be edited.
    book.record(talk(Dialect::Chat, &[question, "To Rome!", "I was born in Oslo."]).at(30)).await;
    assert_eq!(edits(&book).await, [said]);
    // Its words are sent once more, before the first version was forgotten.
    book.record(talk(Dialect::Chat, talks[1]).at(40)).await;
    assert!(edits(&book).await.is_empty());
}

#[tokio::test]
async fn another_speaker_and_another_picture_make_no_edit() {
    let question = "Where shall we go in May?";
    let messages: &[&str] = &[question, "To Rome!", "I was born in Rome."];
    let other: &[&str] = &[question, "To Rome!", "I was born in Oslo."];
    let mut spoken = talk(Dialect::Chat, other).at(20);
    spoken.ask.user_name = Some("bob".into());
    let mut shown = talk(Dialect::Chat, other).at(20);
    shown.ask.user_media = Some("picture".into());
    for last in [spoken, shown] {
        let book = Book::open();
        book.record(talk(Dialect::Chat, &[question])).await;
        book.record(talk(Dialect::Chat, messages).at(10)).await;
        book.record(last).await;
        assert!(edits(&book).await.is_empty());
    }
}

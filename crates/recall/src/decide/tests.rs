use crate::decide::*;
use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};
use memgate_models::Models;

fn decided(text: &str, earlier: Earlier, tools_offered: bool) -> (Decision, DecidedBy) {
    let models = Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap();
    let decided = decide(&Message { text, signals: &earlier, tools_offered }, &models);
    (decided.decision, decided.by)
}

fn said(fact: bool, tool: bool, greeting: bool, personal: bool) -> Decision {
    let earlier = Earlier {
        fact: Some(fact),
        tool: Some(tool),
        greeting: Some(greeting),
        personal: Some(personal),
    };
    decided("how tall is the tower in Pisa", earlier, true).0
}

#[test]
fn a_clients_prompt_that_no_rule_knows_is_told_by_the_model() {
    let prompt =
        "Summarize the topic of the conversation so far in 3-5 words for use as a thread name.";
    let skipped = (Decision::Skip(Skip::Housekeeping), DecidedBy::Lexical);
    assert_eq!(decided(prompt, Earlier::SILENT, false), skipped);
    let known = "Generate a concise, 3-5 word title with an emoji summarizing the chat history.";
    assert_eq!(decided(known, Earlier::SILENT, false).1, DecidedBy::Rule);
}

#[test]
fn personal_wins_over_fact_and_not_over_tool() {
    assert_eq!(said(true, false, false, false), Decision::Skip(Skip::Fact));
    assert_eq!(said(true, false, false, true), Decision::Search);
    assert_eq!(said(true, true, false, true), Decision::Skip(Skip::Tool));
    assert_eq!(said(false, true, false, true), Decision::Skip(Skip::Tool));
    assert_eq!(said(false, false, true, false), Decision::Skip(Skip::Greeting));
}

#[test]
fn a_filter_that_says_fact_is_overruled_by_our_own_sign_of_a_person_and_one_that_says_tool_not() {
    let fact = Earlier { fact: Some(true), ..Earlier::SILENT };
    let skipped = (Decision::Skip(Skip::Fact), DecidedBy::Earlier);
    assert_eq!(decided("who wrote my favourite book", fact, false).0, Decision::Search);
    assert_eq!(decided("who wrote the book of that film", fact, false), skipped);
    let tool = Earlier { tool: Some(true), ..Earlier::SILENT };
    let skipped = (Decision::Skip(Skip::Tool), DecidedBy::Earlier);
    assert_eq!(decided("mail my sister that we are late", tool, false), skipped);
}

#[test]
fn a_filter_that_denies_a_reason_keeps_us_from_skipping_for_it() {
    let asked = "what is the capital of France, and how many people live there";
    let (decision, by) = decided(asked, Earlier::SILENT, false);
    assert_eq!((decision, by), (Decision::Skip(Skip::Fact), DecidedBy::Lexical));
    let no_fact = Earlier { fact: Some(false), ..Earlier::SILENT };
    assert_eq!(decided(asked, no_fact, false), (Decision::Search, DecidedBy::Earlier));
    let no_greeting = Earlier { greeting: Some(false), ..Earlier::SILENT };
    assert_eq!(decided("thanks", no_greeting, false).0, Decision::Search);
}

#[test]
fn rules_decide_what_is_a_greeting_or_a_short_follow_up_and_nothing_else() {
    let silent = |text| decided(text, Earlier::SILENT, false);
    assert_eq!(silent("Thanks!!"), (Decision::Skip(Skip::Greeting), DecidedBy::Rule));
    assert_eq!(silent("how much?"), (Decision::Search, DecidedBy::Rule));
    assert_eq!(silent("define osmosis"), (Decision::Skip(Skip::Fact), DecidedBy::Lexical));
    assert_eq!(silent("what about the second one on the list then").1, DecidedBy::Lexical);
}

#[test]
fn what_is_short_or_leans_on_what_was_said_is_searched() {
    for text in [
        "the red one",
        "?",
        "how much?",
        "when?",
        "go on",
        "same again",
        "what about the second one on the list then",
        "什么时候来着",
        "多少",
        "还有呢",
        "und wann?",
        "¿y el otro?",
        "¿cuánto?",
        "et pour elle ?",
        "e o outro?",
        "aur wo?",
        "あれは？",
    ] {
        assert_eq!(decided(text, Earlier::SILENT, false).0, Decision::Search, "{text}");
    }
}

#[test]
fn tools_count_only_where_they_are_offered_and_the_message_asks_for_one() {
    let asked = "set a timer for ten minutes";
    let of = |text, tools| decided(text, Earlier::SILENT, tools).0;
    assert_eq!(of(asked, true), Decision::Skip(Skip::Tool));
    assert_ne!(of(asked, false), Decision::Skip(Skip::Tool));
    assert_eq!(
        of("what is the boiling point of water at sea level", true),
        Decision::Skip(Skip::Fact)
    );
}

#[test]
fn questions_about_the_speaker_are_searched_in_every_language() {
    for text in [
        "when is my sister's birthday again",
        "wann hat meine Schwester Geburtstag",
        "¿cuándo es el cumpleaños de mi hermana?",
        "c'est quand l'anniversaire de ma sœur",
        "quando é o aniversário da minha irmã",
        "meri behen ka birthday kab hai",
        "मेरी बहन का जन्मदिन कब है",
        "我妹妹的生日是哪天来着",
        "妹の誕生日っていつだったっけ、私忘れた",
    ] {
        let (decision, _) = decided(text, Earlier::SILENT, true);
        assert_eq!(decision, Decision::Search, "{text}");
    }
}

//! A story played through the parts of memory.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{data::Labelled as _, test_support::services};

fn story(id: &str, lang: &str) -> Story {
    serde_json::from_value(json!({
        "id": id, "lang": lang,
        "sessions": [{"date": "2026-02-09", "turns": [
            {"user": "My dog Rex got his rabies vaccination", "assistant": "Good boy, Rex."},
            {"user": "thanks", "assistant": "You are welcome!"},
        ]}],
        "facts": [{"any": [["rabies"]], "state": "now", "kind": "fact", "says": "Rex is vaccinated."}],
        "acceptable": [],
        "asks": [
            {"date": "2026-05-01", "turns": [], "user": "My dog Rex got his rabies vaccination when?",
             "must": [["2026-02-09"]], "must_not": [], "relevant": [["rex"]], "want_silence": false},
            {"date": "2026-05-02", "turns": [], "user": "hello!",
             "must": [], "must_not": ["rex"], "relevant": [], "want_silence": true},
        ],
    }))
    .unwrap()
}

#[tokio::test]
async fn a_story_is_learned_and_asked_at_its_dates() {
    let folder = tempfile::tempdir().unwrap();
    let memory = services(folder.path());
    let story = story("o007", "en");
    let played = play(&memory, &story, true).await.unwrap();
    let day = |at: jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
    assert_eq!(day(played.memories[0].created_at), "2026-02-09");
    let figures = Figures::of(&story, &played);
    assert_eq!((figures.asks.context_recall.hits, figures.asks.silence_empty.hits), (1, 1));
    assert_eq!(figures.asks.raw_turns.hits, 1, "this memory stores turns only");
    assert_eq!(figures.store.fact_recall.hits, 0);
    let shown = show::story(&story, &played);
    for part in ["Turn/Turn", "#0 Now fact: MISSED", "<relevant, turn>", "skip: Greeting"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    memory.capture.shutdown(Duration::from_secs(60)).await;
}

#[test]
fn even_and_odd_rows_are_reported_apart() {
    let (even, odd) = (story("o010", "en"), story("o007", "de"));
    let results = [(&even, Figures::default()), (&odd, Figures::default())];
    let of = |rows| serde_json::to_value(Report::of(rows, &results, Digests::default())).unwrap();
    let all = of(Rows::All);
    let langs = |rows: &str| all["rows"][rows]["by_lang"].as_object().unwrap().len();
    assert_eq!((langs("even"), langs("odd"), langs("all")), (1, 1, 2));
    assert!(of(Rows::Even)["rows"]["odd"].is_null());
}

#[test]
fn a_row_without_a_known_language_or_a_number_is_refused() {
    assert_eq!(story("o007", "en").wrong(), None);
    assert!(story("o007", "xx").wrong().unwrap().starts_with("lang: \"xx\""));
    let told = "id: \"first\" does not end in a number";
    assert_eq!(story("first", "en").wrong().as_deref(), Some(told));
}

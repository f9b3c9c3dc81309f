//! Each figure on a story of a few lines.

use serde_json::json;

use super::*;
use crate::ordinary::play::{Answer, Line};
use memgate_core::memory::{Memory, MemoryId, MemoryKind, MemoryType, Owner, Source, Status};

fn story() -> Story {
    serde_json::from_value(json!({
        "id": "o002", "lang": "en",
        "sessions": [{"date": "2026-01-05", "turns": [{"user": "hi", "assistant": "Hi!", "keep": []}]}],
        "facts": [
            {"any": [["leeds"]], "state": "now", "kind": "fact", "says": "Lives in Leeds."},
            {"any": [["york"]], "state": "past", "kind": "fact", "says": "Lived in York."},
            {"any": [["ken"]], "state": "gone", "kind": "person", "says": "Had a row with Ken."},
            {"any": [["tea"]], "state": "now", "kind": "preference", "says": "Likes tea."},
            {"any": [["oslo", "may"]], "state": "now", "kind": "plan", "says": "Goes to Oslo."},
        ],
        "acceptable": [["rain"]],
        "asks": [],
    }))
    .unwrap()
}

fn memory(content: &str) -> Memory {
    let owner = Owner::of_user("u").unwrap();
    let kind = MemoryType::new(MemoryType::SEMANTIC);
    let at = "2026-01-05T10:00:00Z".parse().unwrap();
    Memory::new(MemoryId::fresh(), owner, kind, content, Source::ExplicitUserInput, at)
}

fn turn(user: &str) -> Memory {
    memory("").of_turn(user, None)
}

fn played(memories: Vec<Memory>, answers: Vec<Answer>) -> Played {
    Played { memories, ended: "2026-01-05T11:00:00Z".parse().unwrap(), answers }
}

fn stored(memories: Vec<Memory>) -> StoreFigures {
    Figures::of(&story(), &played(memories, Vec::new())).store
}

fn count(hits: usize, of: usize) -> Count {
    Count { hits, of }
}

#[test]
fn a_fact_counts_only_in_a_clean_memory_of_few_facts() {
    let found = |memories| stored(memories).fact_recall;
    assert_eq!(found(vec![memory("I live in Leeds")]), count(1, 3));
    assert_eq!(found(vec![memory("I moved from York to Leeds and like tea")]), count(2, 3));
    let many = "From York to Leeds with Ken, and I like tea";
    assert_eq!(found(vec![memory(many)]), count(0, 3), "four facts");
    assert_eq!(found(vec![turn("I live in Leeds")]), count(0, 3));
    let long = format!("I live in Leeds {}", "x".repeat(300));
    assert_eq!(found(vec![memory(&long)]), count(0, 3));
    let mut ended = memory("I live in Leeds");
    ended.valid_until = Some(ended.created_at);
    assert_eq!(found(vec![ended]), count(0, 3));
    let by_kind = stored(vec![memory("I like tea a lot")]).fact_recall_by_kind;
    assert_eq!((by_kind[&Kind::Preference], by_kind[&Kind::Plan]), (count(1, 1), count(0, 1)));
}

#[test]
fn memories_that_are_not_clean_are_counted_by_class() {
    let mut imported = memory("I live in Leeds");
    imported.source = Source::ExternalData;
    let mut summary = memory("Session summary: Leeds");
    summary.kind = MemoryKind::Summary;
    let mut old = memory("I live in York");
    old.status = Status::Superseded;
    let all = stored(vec![imported, summary, old, turn("hi"), memory("I like tea")]);
    let classes = (all.clean, all.turns, all.summaries, all.contributed, all.long);
    assert_eq!(classes, (1, 1, 1, 1, 0));
}

#[test]
fn junk_holds_nothing_labelled_and_a_fragment_cannot_be_read_alone() {
    let figures = stored(vec![
        memory("I like tea"),
        memory("it was rain again"),
        memory("I lived in York"),
        memory("the printer is jammed"),
        turn("the printer is jammed"),
    ]);
    assert_eq!(figures.junk, count(1, 4));
    assert_eq!(figures.fragments, count(1, 4));
}

#[test]
fn a_past_fact_is_shown_as_active_unless_the_memory_says_otherwise() {
    let past = |memory| stored(vec![memory]).past_active;
    assert_eq!(past(memory("I live in York")), count(1, 1));
    assert_eq!(past(memory("I live in Leeds, not in York")), count(0, 1), "holds what is true now");
    assert_eq!(past(memory("I no longer live in York")), count(0, 1));
    assert_eq!(past(turn("I live in York")), count(0, 1));
    let mut ends = memory("I live in York");
    ends.valid_until = Some("2026-03-01T00:00:00Z".parse().unwrap());
    assert_eq!(past(ends), count(0, 1));
}

#[test]
fn a_fact_to_forget_is_kept_in_a_memory_or_a_turn_until_it_is_hidden() {
    let kept = |memory| stored(vec![memory]).forgotten_kept;
    assert_eq!(kept(memory("Had a row with Ken")), count(1, 1));
    assert_eq!(kept(turn("had a row with Ken")), count(1, 1));
    let mut forgotten = turn("had a row with Ken");
    forgotten.status = Status::Forgotten;
    assert_eq!(kept(forgotten), count(0, 1));
}

#[test]
fn duplicates_hold_exactly_the_same_facts_as_another_memory() {
    let figures = stored(vec![
        memory("I like tea"),
        memory("Tea is my drink"),
        memory("I like tea and live in Leeds"),
        memory("the printer is jammed"),
        memory("the scanner is jammed"),
        turn("I like tea"),
    ]);
    assert_eq!(figures.duplicates, count(1, 5));
}

/// The figures of one question with this context.
fn asked(ask: &serde_json::Value, lines: &[(&str, MemoryKind)]) -> AskFigures {
    let mut whole = json!({
        "date": "2026-02-01", "turns": [], "user": "where do I live?", "must": [],
        "must_not": [], "relevant": [["leeds"], ["york"]], "want_silence": false,
    });
    for (key, value) in ask.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let story = Story { asks: vec![serde_json::from_value(whole).unwrap()], ..story() };
    let line = |(text, kind): &(&str, MemoryKind)| Line { text: (*text).into(), kind: Some(*kind) };
    let lines: Vec<Line> = lines.iter().map(line).collect();
    let context = lines.iter().map(|line| line.text.as_str()).collect();
    let answer = Answer { skipped: None, context, lines, ranked: Vec::new() };
    Figures::of(&story, &played(Vec::new(), vec![answer])).asks
}

use MemoryKind::{Statement, Turn};

#[test]
fn an_item_counts_in_a_line_that_is_relevant_too() {
    let must = json!({"must": [["2026-01-05"], ["leeds", "bradford"]]});
    let recall = |lines: &[_]| asked(&must, lines).context_recall;
    assert_eq!(recall(&[("[2026-01-05] I live in Leeds", Statement)]), count(2, 2), "by its mark");
    assert_eq!(recall(&[("[2026-01-05] Bradford", Statement)]), count(0, 2), "not relevant");
    assert_eq!(asked(&json!({}), &[]).context_recall, count(0, 0));
}

#[test]
fn precision_is_by_line_and_ignores_marks() {
    let ask = json!({"relevant": [["2026"]]});
    let lines = [("[2026-01-05] tea", Statement), ("[standing] the 2026 plan", Statement)];
    assert_eq!(asked(&ask, &lines).precision, count(1, 2));
    assert_eq!(asked(&ask, &[]).precision, count(0, 0));
}

#[test]
fn a_forbidden_line_counts_unless_it_answers_or_says_that_it_is_over() {
    let ask = json!({"must": [["leeds"]], "must_not": ["york"]});
    let shown = |line| asked(&ask, &[(line, Statement)]).must_not_shown;
    assert_eq!(shown("[2026-01-05] I live in York"), count(1, 1));
    assert_eq!(shown("[2026-01-05] From York to Leeds"), count(0, 1));
    assert_eq!(shown("[2026-01-05, until 2026-01-08] I live in York"), count(0, 1));
    assert_eq!(shown("[2026-01-05] I used to live in York"), count(0, 1));
    assert_eq!(shown("[2026-01-05] I like tea"), count(0, 1));
}

#[test]
fn silence_is_kept_by_no_line_or_by_relevant_ones() {
    let silent = |lines: &[_]| {
        let AskFigures { silence_kept, silence_empty, unrelated_shown, .. } =
            asked(&json!({"want_silence": true}), lines);
        [silence_kept, silence_empty, unrelated_shown].map(|count| count.hits)
    };
    assert_eq!(silent(&[]), [1, 1, 0]);
    assert_eq!(silent(&[("[standing] Leeds", Statement)]), [1, 0, 0]);
    assert_eq!(silent(&[("[2026-01-05] User: tea", Turn)]), [0, 0, 1]);
    assert_eq!(asked(&json!({}), &[]).silence_kept, count(0, 0));
}

#[test]
fn lines_with_the_same_facts_and_stored_turns_are_counted() {
    let figures = asked(
        &json!({}),
        &[
            ("[2026-01-05] I live in Leeds", Statement),
            ("[2026-01-06] User: we live in Leeds", Turn),
            ("[2026-01-06] the printer", Statement),
            ("[2026-01-07] the scanner", Statement),
        ],
    );
    assert_eq!((figures.duplicates, figures.raw_turns), (count(1, 4), count(1, 4)));
}

#[test]
fn figures_of_stories_add_up() {
    let one = Figures::of(&story(), &played(vec![memory("I like tea")], Vec::new()));
    let mut two = one.clone();
    two.add(&one);
    assert_eq!((two.stories, two.sessions, two.store.clean), (2, 2, 2));
    assert_eq!(two.store.fact_recall, count(2, 6));
    assert_eq!(two.store.fact_recall_by_kind[&Kind::Preference], count(2, 2));
}

//! Tests of screening and admission on labelled messages. They read no row that is kept apart:
//! `memgate eval refusals` measures these, and no test holds anybody to them.

use std::{fs, path::Path};

use serde::Deserialize;
use serde_json::Value;

use crate::{admission::admit, intake::on_disk};
use memgate_screening::{Action, MAX_MESSAGE_BYTES, Policy, Screener};

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    #[serde(default)]
    value: String,
    set: String,
}

fn rows(names: &[&str]) -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/screening");
    let texts = names.iter().map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let rows = |text: String| -> Vec<Row> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    texts.flat_map(rows).filter(|row| row.set == "dev").collect()
}

/// The text of a message that reaches the journal.
fn stored(screener: Screener, text: &str) -> String {
    admit(&screener.screen(text, MAX_MESSAGE_BYTES)).text
}

/// The share of the rows that are not as wanted.
fn share(rows: &[Row], wrong: impl Fn(&Row) -> bool) -> f64 {
    let wrong: Vec<&Row> = rows.iter().filter(|row| wrong(row)).collect();
    wrong.iter().for_each(|row| eprintln!("{}: {} [{}]", row.id, row.text, row.value));
    wrong.len() as f64 / rows.len() as f64
}

#[test]
fn secrets_leave_no_value_behind() {
    let rows = rows(&["secrets.jsonl", "secrets-more.jsonl"]);
    let leaves = |row: &Row| stored(Screener::default(), &row.text).contains(&row.value);
    assert!(share(&rows, leaves) <= 0.08);
}

#[test]
fn personal_data_that_the_policy_drops_leaves_no_value_behind() {
    let strict = Action::Drop;
    let screener = Screener::new(Policy {
        codes: strict,
        cards: strict,
        ibans: strict,
        national_ids: strict,
        emails: strict,
        phones: strict,
        addresses: strict,
        health: strict,
    });
    let rows = rows(&["personal.jsonl"]);
    assert!(share(&rows, |row| stored(screener, &row.text).contains(&row.value)) <= 0.17);
}

#[test]
fn statements_that_only_look_like_secrets_are_stored_unchanged() {
    let rows = rows(&["benign.jsonl", "benign-more.jsonl"]);
    assert!(share(&rows, |row| stored(Screener::default(), &row.text) != row.text) <= 0.05);
}

/// A row of `sentences-*.jsonl`.
#[derive(Deserialize)]
struct Sentence {
    id: String,
    text: String,
    #[serde(default)]
    secret: Vec<String>,
    #[serde(default)]
    form: Option<bool>,
    #[serde(default)]
    asked: bool,
}

fn sentences() -> Vec<Sentence> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/screening");
    let files = ["sentences-secrets.jsonl", "sentences-benign.jsonl"];
    let texts = files.map(|name| fs::read_to_string(folder.join(name)).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The wrong rows among these, at most `percent` of them.
fn at_most(percent: usize, rows: &[Sentence], wrong: impl Fn(&Sentence) -> bool) {
    let wrong: Vec<&Sentence> = rows.iter().filter(|row| wrong(row)).collect();
    wrong.iter().for_each(|row| eprintln!("{}: {}", row.id, row.text));
    assert!(wrong.len() * 100 <= percent * rows.len(), "{} of {}", wrong.len(), rows.len());
}

fn leaves(row: &Sentence, screener: Screener) -> bool {
    let left = on_disk(&row.text, screener);
    let mut texts = left.asked.iter().chain([&left.text]);
    texts.any(|text| row.secret.iter().any(|value| text.contains(value)))
}

#[test]
fn of_secrets_in_sentences_few_leave_a_value_behind() {
    let mut rows = sentences();
    rows.retain(|row| !row.secret.is_empty() && row.form != Some(false));
    at_most(5, &rows, |row| leaves(row, Screener::default()));
}

#[test]
fn of_benign_sentences_few_are_lost() {
    let mut rows = sentences();
    rows.retain(|row| row.secret.is_empty());
    at_most(1, &rows, |row| {
        let left = on_disk(&row.text, Screener::default());
        let lost = left.forgets || left.housekeeping || left.untyped;
        lost || !left.redacted.is_empty() || !left.refused.is_empty()
    });
}

#[test]
fn codes_that_users_ask_to_remember_are_stored_where_the_policy_keeps_them() {
    let mut rows = sentences();
    rows.retain(|row| row.asked);
    let keep = Screener::new(Policy { codes: Action::Keep, ..Policy::default() });
    at_most(0, &rows, |row| !leaves(row, keep));
    at_most(0, &rows, |row| leaves(row, Screener::default()));
}

/// The user messages of a file of ordinary conversations.
fn messages(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_row = |row: Value| {
        let sessions = row["sessions"].as_array().cloned().unwrap_or_default();
        let turns = sessions
            .into_iter()
            .flat_map(|session| session["turns"].as_array().cloned().unwrap_or_default());
        turns.filter_map(|turn| turn["user"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    rows.flat_map(of_row).collect()
}

#[test]
fn everyday_messages_are_stored_unchanged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/ordinary");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|it| it == "jsonl"));
    let all: Vec<String> = files.flat_map(|file| messages(&file)).collect();
    let changed = all.iter().filter(|text| stored(Screener::default(), text) != **text);
    // At most one in a hundred.
    assert!(changed.count() * 100 <= all.len());
}

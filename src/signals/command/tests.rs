//! The rules on labelled messages.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde::Deserialize;

use super::*;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Row {
    text: String,
    remember: Vec<String>,
    fact: Vec<String>,
    topic: Vec<String>,
    goes: bool,
}

fn rows<T: for<'a> Deserialize<'a>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[derive(Debug, Deserialize)]
struct Forgotten {
    #[serde(flatten)]
    subject: Subject,
    text: String,
    goes: bool,
}

#[test]
fn requests_are_known_in_every_language_and_nothing_else_is_one() {
    let mut wrong = Vec::new();
    for row in rows::<Row>(include_str!("../../../testdata/commands/commands.jsonl")) {
        let facts = row.fact.into_iter().map(Subject::Fact);
        let forget: Vec<_> = facts.chain(row.topic.into_iter().map(Subject::Topic)).collect();
        let found = Commands::of(&row.text);
        if (&found.remember, &found.forget) != (&row.remember, &forget) {
            wrong.push(format!("{}: {:?} {:?}", row.text, found.remember, found.forget));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_forgotten_is_what_says_it_and_nothing_else() {
    let mut wrong = Vec::new();
    for row in rows::<Forgotten>(include_str!("../../../testdata/commands/forget.jsonl")) {
        if row.subject.said_in(&row.text).is_empty() == row.goes {
            wrong.push(format!("{row:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

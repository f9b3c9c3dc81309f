use std::{collections::BTreeMap, fmt::Write, fs};

use serde::Deserialize;

use crate::names::*;

#[derive(Deserialize)]
struct Row {
    lang: String,
    text: String,
    names: BTreeMap<String, String>,
}

fn rows() -> Vec<Row> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/names/names.jsonl");
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Names found, and how many of these are right.
#[derive(Default)]
struct Score {
    found: u32,
    right: u32,
    there: u32,
    kinds: u32,
    right_kinds: u32,
}

#[test]
fn what_is_named_is_right_and_most_is_found() {
    let mut score = Score::default();
    let mut misses = String::new();
    for row in rows() {
        let labels: BTreeMap<String, &str> =
            row.names.iter().map(|(name, kind)| (entity_key(name), kind.as_str())).collect();
        let found = named(&row.text, &row.text).mentions;
        score.there += u32::try_from(labels.len()).unwrap();
        let mut keys: Vec<String> = Vec::new();
        for mention in found {
            let key = entity_key(&mention.name);
            score.found += 1;
            match (labels.get(&key), &mention.kind) {
                (None, _) => {
                    writeln!(misses, "{} wrong {mention:?}: {}", row.lang, row.text).unwrap()
                }
                (Some(_), None) => score.right += 1,
                (Some(label), Some(kind)) => {
                    score.right += 1;
                    score.kinds += 1;
                    score.right_kinds += u32::from(label == kind);
                    if label != kind {
                        writeln!(misses, "{} kind {mention:?}: {}", row.lang, row.text).unwrap();
                    }
                }
            }
            keys.push(key);
        }
        for missing in labels.keys().filter(|key| !keys.contains(key)) {
            writeln!(misses, "{} missed {missing}: {}", row.lang, row.text).unwrap();
        }
    }
    let names = format!("{} of {} right, of {}", score.right, score.found, score.there);
    let kinds = format!("{} of {} kinds right", score.right_kinds, score.kinds);
    // As in docs/quality.md.
    assert_eq!(
        (&*names, &*kinds),
        ("216 of 218 right, of 247", "104 of 104 kinds right"),
        "{misses}"
    );
}

#[track_caller]
fn check(statement: &str, message: &str, expected: &[(&str, Option<&str>)]) {
    let found = named(statement, message).mentions;
    let found: Vec<_> = found.iter().map(|m| (m.name.as_str(), m.kind.as_deref())).collect();
    assert_eq!(found, expected, "{statement}");
}

#[test]
fn a_first_word_is_a_name_where_the_message_shows_it() {
    let statement = "Ana works nights.";
    check(statement, statement, &[]);
    check(statement, "I called Ana. Ana works nights.", &[("Ana", None)]);
    check("Music is what I live for.", "Music is what I live for. I like music.", &[]);
}

#[test]
fn a_name_comes_once_and_what_it_is_holds_for_all_of_it() {
    let text = "I met Rex, he is a stray. Then a friend said that dog called Rex is mine.";
    check(text, text, &[("Rex", None)]);
    let text = "I miss Rex. My dog Rex ran away.";
    check(text, text, &[("Rex", Some("pet"))]);
}

#[test]
fn in_german_a_capital_letter_alone_says_nothing() {
    for text in [
        "Ich mag Kaffee und den Geruch von Regen.",
        "Ich weiß, dass meine Mutter Krebs hat.",
        "weil meine Frau Angst vor Hunden hat",
        "Ich lebe in Scheidung.",
    ] {
        check(text, text, &[]);
    }
}

#[test]
fn other_scripts_and_shouting_name_nothing() {
    for text in
        ["Моя сестра Анна живёт в Москве", "我姐姐住在上海", "MY SISTER ANA LIVES IN PORTO", ""]
    {
        check(text, text, &[]);
    }
}

#[test]
fn what_is_said_of_a_named_person_is_a_relation() {
    for (text, expected) in [
        ("My sister Ana lives in Porto.", ("Ana", "lives_in", "Porto")),
        ("my boss Noor works at Helio", ("Noor", "works_at", "Helio")),
        ("Meine Schwester Ana wohnt in Graz.", ("Ana", "lives_in", "Graz")),
        ("Mi hermana Ana vive en Lima", ("Ana", "lives_in", "Lima")),
        ("Ma sœur Ana vit à Dijon", ("Ana", "lives_in", "Dijon")),
        ("Minha irmã Ana mora em Beja", ("Ana", "lives_in", "Beja")),
    ] {
        let found = named(text, text).relations;
        let found: Vec<_> =
            found.iter().map(|r| (&*r.subject, &*r.predicate, &*r.object)).collect();
        assert_eq!(found, [expected], "{text}");
    }
    let apart = "My dog Rex lives in Porto, and my sister Ana said she moved to Lyon.";
    assert_eq!(named(apart, apart).relations, []);
}

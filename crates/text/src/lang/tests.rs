//! Every file is complete, and docs/languages.md says what is in them.

use std::path::Path;

use super::*;

#[test]
fn every_file_has_every_section() {
    for language in Language::ALL {
        let read: Result<File, _> = toml::from_str(language.source());
        assert!(read.is_ok(), "lang/{}.toml: {:?}", language.code(), read.err());
    }
}

#[test]
fn a_file_without_a_list_or_with_an_unknown_one_is_refused() {
    let whole = Language::En.source();
    for (found, put) in [("\nmoney_size = ", "\nmoney = "), ("\nphrases = ", "\nphrase = ")] {
        let broken = whole.replacen(found, put, 1);
        assert_ne!(broken, whole);
        assert!(toml::from_str::<File>(&broken).is_err(), "{put}");
    }
}

/// The number of entries of a section.
fn entries(section: &toml::Value) -> usize {
    match section {
        toml::Value::Array(list) => list.iter().map(entries).sum::<usize>().max(list.len()),
        toml::Value::Table(lists) => lists.values().map(entries).sum(),
        _ => 0,
    }
}

/// Languages in rows, sections in columns.
fn table() -> String {
    let sections = [
        "sentences",
        "pointing",
        "alone",
        "first_person",
        "greetings",
        "index",
        "cues",
        "change",
        "topic",
        "attributes",
        "people",
        "days",
        "dates",
        "times",
        "subject",
        "forgetting",
        "commands",
        "preferences",
        "rules",
        "pasted",
        "names",
        "questions",
    ];
    let mut table =
        format!("| | {} |\n|---|{}\n", sections.join(" | "), "---|".repeat(sections.len()));
    for language in Language::ALL {
        let file: toml::Table = toml::from_str(language.source()).unwrap();
        let known = file.values().filter(|section| !section.is_str()).count();
        assert_eq!(known, sections.len(), "a section is not in the table");
        let counts = sections.map(|section| entries(&file[section]).to_string());
        table +=
            &format!("| {} (`{}`) | {} |\n", language.name(), language.code(), counts.join(" | "));
    }
    table
}

#[test]
fn the_documentation_says_what_each_language_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/languages.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- table -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of table -->").unwrap();
    let expected = format!("{before}<!-- table -->\n{}<!-- end of table -->{after}", table());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/languages.md is old: run again with UPDATE_EXPECT=1");
}

#[test]
fn languages_of_answers_have_the_names_of_the_english_file() {
    use crate::lang::AnswerLanguage;
    assert_eq!(AnswerLanguage::De.english_name(), "German");
    assert_eq!(AnswerLanguage::Zh.english_name(), "Chinese");
}

//! The commands of each language of testdata/languages, and their figures in docs/languages.md.
use std::{fs, path::Path};

use serde::Deserialize;

use crate::{
    command::{Commands, Subject},
    lang::Language,
};

#[derive(Deserialize)]
struct Row {
    text: String,
    #[serde(default)]
    remember: Vec<String>,
    #[serde(default)]
    fact: Vec<String>,
    #[serde(default)]
    topic: Vec<String>,
}

/// Right answers, of rows that ask memory for something and of those that do not.
#[derive(Default)]
struct Figures {
    asking: [usize; 2],
    other: [usize; 2],
    wrong: Vec<String>,
}

fn measured(language: Language, root: &Path) -> Option<Figures> {
    let path = root.join("testdata/languages").join(language.code()).join("commands.jsonl");
    let mut figures = Figures::default();
    for line in fs::read_to_string(path).ok()?.lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let facts = row.fact.into_iter().map(Subject::Fact);
        let forget: Vec<_> = facts.chain(row.topic.into_iter().map(Subject::Topic)).collect();
        let found = Commands::of(&row.text);
        let asks = !row.remember.is_empty() || !forget.is_empty();
        let count = if asks { &mut figures.asking } else { &mut figures.other };
        let right = (&found.remember, &found.forget) == (&row.remember, &forget);
        count[0] += usize::from(right);
        count[1] += 1;
        if !right {
            figures.wrong.push(format!("{}: {:?} {:?}", row.text, found.remember, found.forget));
        }
    }
    Some(figures)
}

#[test]
fn commands_of_added_languages_are_recognised_and_nothing_else_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut table =
        "| | commands recognised | other messages left alone |\n|---|---|---|\n".to_owned();
    for language in Language::ALL {
        let Some(Figures { asking, other, wrong }) = measured(*language, &root) else { continue };
        let code = language.code();
        assert!(asking[1] >= 25 && other[1] >= 10, "{code}: too few rows");
        // A wrong "forget" destroys; a missed one keeps.
        assert_eq!(other[0], other[1], "{code}: {}", wrong.join("\n"));
        assert!(asking[0] * 10 >= asking[1] * 9, "{code}: {}", wrong.join("\n"));
        let figures = [asking, other].map(|[right, all]| format!("{right} of {all}"));
        table += &format!("| {} | {} |\n", language.name(), figures.join(" | "));
    }
    let path = root.join("docs/languages.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- commands -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of commands -->").unwrap();
    let expected = format!("{before}<!-- commands -->\n{table}<!-- end of commands -->{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/languages.md is old: run again with UPDATE_EXPECT=1");
}

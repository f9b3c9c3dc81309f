//! The models on the languages of testdata/languages, of which they saw two to four conversations, and their figures in
//! docs/languages.md. By words alone: the features are what a language's file adds to.
use std::{fs, path::Path};

use serde::Deserialize;

use crate::tests::e5;
use memgate_text::{greeting::is_greeting, lang::Language, pieces::Piece, rules::drops};

/// The least share of right answers of each kind, in percent, below which a change of a language's file is a step back.
const LEAST: usize = 60;

#[derive(Deserialize)]
struct Message {
    text: String,
    search: bool,
}

#[derive(Deserialize)]
struct Told {
    text: String,
    memorable: bool,
}

fn rows<T: for<'a> Deserialize<'a>>(folder: &Path, file: &str) -> Option<Vec<T>> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Right answers among the rows where the answer is yes, and where it is no.
fn count(answers: impl Iterator<Item = (bool, bool)>) -> [[usize; 2]; 2] {
    let mut counts = [[0; 2]; 2];
    for (expected, found) in answers {
        let count = &mut counts[usize::from(!expected)];
        count[0] += usize::from(expected == found);
        count[1] += 1;
    }
    counts
}

#[test]
fn languages_with_little_training_are_decided_by_the_words_of_their_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let models = e5();
    let mut table = "| | searched where memory helps | skipped where not | statements kept | other messages dropped |\n|---|---|---|---|---|\n".to_owned();
    for language in Language::ALL {
        let folder = root.join("testdata/languages").join(language.code());
        let Some(messages) = rows::<Message>(&folder, "signals.jsonl") else { continue };
        let told = rows::<Told>(&folder, "memorable.jsonl").unwrap();
        assert!(messages.len() >= 40 && told.len() >= 40, "{language:?}: too few rows");
        let searched = count(messages.iter().map(|row| {
            let searches = || models.need.opinion(&row.text).by_words().searches;
            (row.search, !is_greeting(&row.text) && searches())
        }));
        let kept = count(told.iter().map(|row| {
            let sentences = Piece::sentences(&row.text);
            let memorable = || sentences.iter().any(|it| models.memorable.is_memorable(it));
            (row.memorable, !drops(&row.text) && memorable())
        }));
        let counts = [searched, kept].concat();
        let figures: Vec<_> =
            counts.iter().map(|[right, all]| format!("{right} of {all}")).collect();
        table += &format!("| {} | {} |\n", language.name(), figures.join(" | "));
        for [right, all] in [searched, kept] {
            let (right, all) = (right[0] + all[0], right[1] + all[1]);
            assert!(right * 100 >= all * LEAST, "{language:?}: {figures:?}");
        }
    }
    let path = root.join("docs/languages.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- models -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of models -->").unwrap();
    let expected = format!("{before}<!-- models -->\n{table}<!-- end of models -->{after}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, expected).unwrap();
        return;
    }
    assert!(page == expected, "docs/languages.md is old: run again with UPDATE_EXPECT=1");
}

//! The labelled messages of testdata/messages have the form that their README describes.

use std::{collections::BTreeSet, fs, path::Path};

use crate::messages::row::{Act, Kind, Row, Wish, Words};

/// The languages of the rows.
const LANGUAGES: [&str; 12] =
    ["en", "de", "es", "fr", "it", "nl", "pt", "ru", "zh", "ja", "ko", "hi"];

/// The rows of the files in a folder of testdata/messages.
fn rows(folder: &str) -> Vec<Row> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/messages").join(folder);
    let mut rows = Vec::new();
    for file in fs::read_dir(root).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_some_and(|extension| extension == "jsonl") {
            for line in fs::read_to_string(&file).unwrap().lines() {
                let row = serde_json::from_str(line);
                rows.push(
                    row.unwrap_or_else(|error| panic!("{}: {error}: {line}", file.display())),
                );
            }
        }
    }
    rows
}

fn message(row: &Row) -> String {
    row.turns.iter().flat_map(|turn| &turn.user).map(|part| part.t.as_str()).collect()
}

#[test]
fn labelled_messages_are_whole_and_only_own_words_are_kept() {
    for folder in ["", "kept"] {
        let rows = rows(folder);
        let kinds: BTreeSet<Kind> = rows.iter().map(|row| row.kind).collect();
        assert_eq!(kinds.len(), 6, "{folder}: {kinds:?}");
        let languages: BTreeSet<&str> = rows.iter().map(|row| row.lang.as_str()).collect();
        assert_eq!(languages, LANGUAGES.into_iter().collect(), "{folder}");
        for row in &rows {
            assert!(!row.turns.is_empty(), "{row:?}");
            for turn in &row.turns {
                assert!(!turn.user.is_empty(), "{row:?}");
                assert!(turn.assistant.as_ref().is_none_or(|text| !text.is_empty()), "{row:?}");
            }
            for part in row.parts() {
                assert!(!part.t.is_empty(), "{row:?}");
                assert!(!part.k || part.w == Words::Own, "{part:?} of {}", row.id);
                assert!(part.w != Words::Other || part.a == Act::None, "{part:?} of {}", row.id);
                let about_answers = match part.wish {
                    Some(Wish::Standing | Wish::Topic) => part.a == Act::Wish && part.k,
                    Some(Wish::Now) => part.a == Act::Now,
                    None => !part.undo,
                };
                assert!(about_answers, "{part:?} of {}", row.id);
                let kept = part.k || part.wish.is_some();
                assert!(!(kept && (part.private || part.secret)), "{part:?} of {}", row.id);
                let described = part.alone.is_some() || part.who.is_some();
                assert!(part.k || !described, "{part:?} of {}", row.id);
            }
        }
    }
}

#[test]
fn no_labelled_message_stands_in_both_halves() {
    let (learned, kept) = (rows(""), rows("kept"));
    let ids: BTreeSet<&str> = learned.iter().chain(&kept).map(|row| row.id.as_str()).collect();
    assert_eq!(ids.len(), learned.len() + kept.len(), "ids are unique");
    let learned: BTreeSet<String> = learned.iter().map(message).collect();
    // Short messages ("thanks!") are anybody's.
    let long = kept.iter().map(message).filter(|text| text.chars().count() > 20);
    assert_eq!(long.filter(|text| learned.contains(text)).collect::<Vec<_>>(), [""; 0]);
}

//! Attributes that one has one of at a time, and how they are told: slots.txt.

use std::{collections::BTreeSet, sync::LazyLock};

use crate::{cues::Cues, lists::sections};

const LIST: &str = include_str!("slots.txt");

static SLOTS: LazyLock<Cues> = LazyLock::new(|| Cues::of(LIST));

/// The attributes that a text tells.
pub(super) fn find(plain: &str, words: &[String]) -> BTreeSet<&'static str> {
    SLOTS.find(plain, words).anywhere
}

/// All words by which these attributes are told, to look for statements on them: "we moved" is far
/// from "I live in Paris" for an embedder, and shares no word with it.
pub fn words_of(slots: &BTreeSet<&'static str>) -> Option<String> {
    let lists = sections(LIST).into_iter().filter(|(name, _)| slots.contains(name));
    let words: Vec<&str> = lists.flat_map(|(_, lines)| lines).collect();
    (!words.is_empty()).then(|| words.join(" ").replace(['|', '*'], " "))
}

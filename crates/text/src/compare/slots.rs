//! Attributes that one has one of at a time, and how they are told: the section `attributes` in `lang/`.

use std::{collections::BTreeSet, sync::LazyLock};

use crate::{
    cues::Phrases,
    lang::{self, keys::Slot},
};

static SLOTS: LazyLock<Phrases<Slot>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.attributes.entries())));

/// The attributes that a text tells.
pub(super) fn find(plain: &str, words: &[String]) -> BTreeSet<Slot> {
    SLOTS.find(plain, words).anywhere
}

/// All words by which these attributes are told, to look for statements on them: "we moved" is far
/// from "I live in Paris" for an embedder, and shares no word with it.
pub fn words_of(slots: &BTreeSet<Slot>) -> Option<String> {
    let words = slots.iter().flat_map(|slot| lang::all(|file| file.attributes.of(*slot)));
    let words: Vec<&str> = words.map(|entry| entry.trim_end_matches('*')).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

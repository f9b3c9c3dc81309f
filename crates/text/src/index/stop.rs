//! Function words (stop words).
//!
//! In a large collection their frequency shows them; an owner's few memories are too small a
//! sample, so they are listed here, normalised like tokens.

use std::{collections::HashSet, sync::LazyLock};

use crate::lang;

static WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.index.stop_words).collect());

/// Function characters of scripts without spaces.
static CHARACTERS: LazyLock<HashSet<char>> =
    LazyLock::new(|| lang::all(|file| &file.index.stop_characters).flat_map(str::chars).collect());

/// Whether a normalised word is a function word.
pub(super) fn is_light(word: &str) -> bool {
    WORDS.contains(word)
}

/// Whether one or two characters of an unspaced script are grammatical: they contain a Chinese
/// function character, or are hiragana only.
pub(super) fn is_light_gram(gram: &str) -> bool {
    gram.chars().any(|c| CHARACTERS.contains(&c))
        || gram.chars().all(|c| matches!(c, '\u{3041}'..='\u{309F}'))
}

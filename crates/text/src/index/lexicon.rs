//! Words with a rule of their own: function words (stop words) and irregular forms, normalised like tokens.
//!
//! In a large collection the frequency of function words shows them; an owner's few memories are too small a
//! sample, so they are listed.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

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

/// A base word by each of its forms that a stemmer does not unify, such as "go" by "went". Function words are in
/// [`WORDS`] instead.
static BASES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = lang::all(|file| &file.index.irregular).map(str::split_whitespace);
    let pairs = groups.filter_map(|mut forms| Some((forms.next()?, forms)));
    pairs.flat_map(|(word, forms)| forms.map(move |form| (form, word))).collect()
});

/// The base word of a lower-case form; most words are their own.
pub(super) fn word_of(form: &str) -> &str {
    BASES.get(form).copied().unwrap_or(form)
}

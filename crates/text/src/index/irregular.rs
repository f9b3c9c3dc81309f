//! Irregular forms that a stemmer does not unify, such as "went" and "go".

use std::{collections::HashMap, sync::LazyLock};

use crate::lang;

/// A base word by each of its forms. Function words are in `stop` instead.
static WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let groups = lang::all(|file| &file.index.irregular).map(str::split_whitespace);
    let pairs = groups.filter_map(|mut forms| Some((forms.next()?, forms)));
    pairs.flat_map(|(word, forms)| forms.map(move |form| (form, word))).collect()
});

/// The base word of a lower-case form; most words are their own.
pub(super) fn word_of(form: &str) -> &str {
    WORDS.get(form).copied().unwrap_or(form)
}

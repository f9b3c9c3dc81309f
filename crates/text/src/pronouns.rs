//! Sentences that cannot be understood without the one before, because they
//! only point at what they speak of.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    lang,
    normal::{plain, tokens},
};

/// Words that point back when a sentence begins with them.
static FIRST: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.pointing.first).collect());

/// Words that point back from within a short sentence.
static WITHIN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.pointing.within).collect());

/// A sentence of more words says enough itself.
const SHORT: usize = 9;

/// Whether a sentence points at something said before it.
pub fn points_back(sentence: &str) -> bool {
    let plain = plain(sentence);
    let words = tokens(&plain);
    let Some(first) = words.iter().find(|word| word.chars().any(char::is_alphanumeric)) else {
        return false;
    };
    FIRST.contains(first.as_str())
        || lang::all(|file| &file.pointing.first_parts)
            .any(|part| plain.trim_start().starts_with(part))
        || (words.len() <= SHORT && words.iter().any(|word| WITHIN.contains(word.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_only_point_are_known() {
        for text in
            ["She's a nurse.", "I sold it in May.", "Er heißt Bo.", "她是护士。", "それは青い。"]
        {
            assert!(points_back(text), "{text}");
        }
        for text in
            ["My sister is a nurse.", "I sold the boat.", "Mein Sohn heißt Bo.", "我姐是护士。"]
        {
            assert!(!points_back(text), "{text}");
        }
    }
}

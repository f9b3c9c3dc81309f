//! Sentences that cannot be understood without the one before, because they
//! only point at what they speak of.

use crate::normal::{plain, tokens};

/// Words that point back when a sentence begins with them.
const FIRST: &[&str] = &[
    // English
    "he",
    "she",
    "it",
    "they",
    "hes",
    "shes",
    "its",
    "theyre",
    "thats",
    "that",
    "this",
    "those",
    "these",
    "his",
    "her",
    "their",
    "him",
    "them",
    "there",
    "both",
    // German
    "er",
    "sie",
    "es",
    "ihr",
    "ihm",
    "das",
    "dort",
    "dies",
    "dieser",
    "diese",
    "beide",
    // Spanish and Portuguese
    "él",
    "ella",
    "ellos",
    "ellas",
    "eso",
    "esto",
    "allí",
    "ele",
    "ela",
    "eles",
    "elas",
    "isso",
    "isto",
    "lá",
    // French
    "il",
    "elle",
    "ils",
    "elles",
    "ça",
    "cela",
    "cest",
    // Hindi, in both scripts
    "वह",
    "वो",
    "यह",
    "ये",
    "उसका",
    "उसकी",
    "उसके",
    "उनका",
    "उनकी",
    "woh",
    "wo",
    "ye",
    "yeh",
    "uska",
    "uski",
    "uske",
    "unka",
    "unki",
    // Chinese and Japanese, whose characters stand singly
    "他",
    "她",
    "它",
    "这",
    "那",
    "這",
];

/// The same for Japanese words of several characters.
const FIRST_PARTS: &[&str] = &["それ", "これ", "あれ", "そこ", "彼は", "彼女", "その"];

/// Words that point back from within a short sentence.
const WITHIN: &[&str] = &["it", "them", "him", "ihn", "ihnen", "उसे", "usko", "use"];

/// A sentence of more words says enough itself.
const SHORT: usize = 9;

/// Whether a sentence points at something said before it.
pub fn points_back(sentence: &str) -> bool {
    let plain = plain(sentence);
    let words = tokens(&plain);
    let Some(first) = words.iter().find(|word| word.chars().any(char::is_alphanumeric)) else {
        return false;
    };
    FIRST.contains(&first.as_str())
        || FIRST_PARTS.iter().any(|part| plain.trim_start().starts_with(part))
        || (words.len() <= SHORT && words.iter().any(|word| WITHIN.contains(&word.as_str())))
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

//! Detects the seed phrase of a cryptocurrency wallet: 12 or more words of a BIP-39 list in a row.

use std::{collections::HashSet, sync::LazyLock};

use bip39::Language;

use crate::{finding::Finding, policy::Class};

/// All lists.
const LANGUAGES: [Language; 10] = [
    Language::English,
    Language::SimplifiedChinese,
    Language::TraditionalChinese,
    Language::Japanese,
    Language::Czech,
    Language::French,
    Language::Italian,
    Language::Korean,
    Language::Portuguese,
    Language::Spanish,
];

static WORDS: LazyLock<Vec<HashSet<String>>> = LazyLock::new(|| {
    let list = |language: &Language| language.word_list().iter().map(|word| plain(word)).collect();
    LANGUAGES.iter().map(list).collect()
});

/// A word in one form, whatever its accents are made of.
fn plain(word: &str) -> String {
    memgate_text::normal::plain(word)
}

/// The shortest phrase, in words. Prose has function words, which are not listed, so a run of listed words this long
/// is a phrase, with a valid checksum or not.
const SHORTEST: usize = 12;

/// The longest run that is one, in words: 24, and listed words beside it. Longer ones are lists or repetitions.
const LONGEST: usize = 32;

pub(super) fn find(text: &str) -> Vec<Finding> {
    let words: Vec<(usize, &str, String)> =
        words(text).map(|(at, word)| (at, word, plain(word))).collect();
    WORDS
        .iter()
        .flat_map(|list| {
            words
                .chunk_by(|a, b| list.contains(&a.2) == list.contains(&b.2))
                .filter(|run| list.contains(&run[0].2))
        })
        .filter(|run| (SHORTEST..=LONGEST).contains(&run.len()))
        .filter_map(|run| {
            let ((start, ..), (at, word, _)) = (run.first()?, run.last()?);
            Some(Finding::bare(*start..at + word.len(), Class::PrivateKey))
        })
        .collect()
}

/// The words of a text; numbers, as in a numbered list, are passed over.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !word.bytes().all(|b| b.is_ascii_digit()))
        .map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_bare_and_numbered_and_prose_is_not() {
        let phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        assert_eq!(find(&format!("here: {phrase}.")).len(), 1);
        let numbered: Vec<String> =
            phrase.split(' ').enumerate().map(|(n, word)| format!("{}. {word}", n + 1)).collect();
        assert_eq!(find(&numbered.join("\n")).len(), 1);
        let chinese = "的 一 是 在 不 了 有 和 人 这 中 大";
        let japanese = "あいこくしん　あいさつ　あいだ　あおぞら　あかちゃん　あきる　あけがた　あける　あこがれる　あさい　あさひ　あしあと";
        for phrase in [chinese, japanese] {
            // A character of the Chinese lists is in both.
            assert!(!find(&format!("我的 {phrase}")).is_empty(), "{phrase}");
        }
        assert!(find("我们在这里的时候人们都很高兴，他们一起去了公园。").is_empty());
        assert!(
            find("I thank you all for the useful advice about my winter garden this year")
                .is_empty()
        );
    }
}

//! The tokeniser: normalises different spellings of one word to the same token by compatibility
//! forms, case folding, stemming and removing accents.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

use crate::{index::lexicon, lang::Language};

/// Incremented when the same text yields other tokens, so that stored tokens are recomputed.
pub(super) const VERSION: u8 = 3;

/// Maximum length of a token, in characters; longer ones are truncated.
const MAX_CHARS: usize = 64;

/// The side of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A searched document.
    Document,
    /// A query.
    Query,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Its normalised form.
    pub text: &'a str,
    /// Whether it is a function word; set for queries only.
    pub light: bool,
    /// Whether it overlaps a longer token, and so does not add to the text's length.
    pub beside: bool,
}

/// Passes every token of a text to `take`, in order.
///
/// Scripts without spaces yield overlapping pairs of characters; a single character yields itself.
/// Documents also yield each Chinese character, so that a query of one character finds them.
pub(super) fn tokens(text: &str, side: Side, mut take: impl FnMut(Token<'_>)) {
    let text = compatible(text);
    let stemmers = Stemmers::of(&text);
    let mut run = Vec::new();
    for segment in text.split_word_bounds() {
        let mut word = String::new();
        for c in segment.chars() {
            if is_unspaced(c) {
                flush_word(&mut word, (side, stemmers), &mut take);
                run.push(c);
            } else {
                flush_run(&mut run, side, &mut take);
                word.push(c);
            }
        }
        flush_word(&mut word, (side, stemmers), &mut take);
    }
    flush_run(&mut run, side, &mut take);
}

/// Replaces full-width letters, ligatures and the like by plain ones, and curly apostrophes by
/// straight ones.
fn compatible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let straight = text.replace(['\u{2019}', '\u{2018}'], "'");
    match is_nfkc_quick(straight.chars()) {
        IsNormalized::Yes => Cow::Owned(straight),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(straight.nfkc().collect()),
    }
}

/// Scripts without spaces between words, and Korean, whose endings would keep equal words apart.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{3005}'..='\u{3007}'   // iteration marks
        | '\u{3041}'..='\u{30FF}'   // hiragana, katakana
        | '\u{AC00}'..='\u{D7A3}')  // hangul
        || is_han(c)
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{323AF}')
}

fn flush_run(run: &mut Vec<char>, side: Side, take: &mut impl FnMut(Token<'_>)) {
    let mut gram = String::new();
    let mut give = |chars: &[char], beside: bool| {
        gram.clear();
        gram.extend(chars);
        let light = side == Side::Query && lexicon::is_light_gram(&gram);
        take(Token { text: &gram, light, beside });
    };
    if let [_] = run.as_slice() {
        give(run, false);
    } else {
        for (place, pair) in run.windows(2).enumerate() {
            give(pair, false);
            if side == Side::Document {
                let last = place + 2 == run.len();
                let singles = if last { pair } else { &pair[..1] };
                for single in singles.iter().filter(|c| is_han(**c)) {
                    give(&[*single], true);
                }
            }
        }
    }
    run.clear();
}

fn flush_word(
    word: &mut String,
    (side, stemmers): (Side, Stemmers),
    take: &mut impl FnMut(Token<'_>),
) {
    if word.chars().any(char::is_alphanumeric) {
        for part in parts(word) {
            let lower: String = part.chars().take(MAX_CHARS).flat_map(char::to_lowercase).collect();
            let light = side == Side::Query && lexicon::is_light(&bare(&lower).replace('\'', ""));
            let word = lexicon::word_of(&lower);
            let mut give = |stem: &str, beside| {
                let text = stem.trim_matches('\'');
                if !text.is_empty() {
                    take(Token { text, light, beside });
                }
            };
            let own = bare(&stemmers.stem(word)).into_owned();
            give(&own, false);
            if side == Side::Document {
                let other = bare(&stemmers.stem_otherwise(word)).into_owned();
                if other != own {
                    give(&other, true);
                }
            }
        }
    }
    word.clear();
}

/// Splits what Unicode considers one word: `snake_case`, `example.com`, French elisions. Removes
/// commas between thousands.
fn parts(word: &str) -> Vec<Cow<'_, str>> {
    let numeric = word.starts_with(|c: char| c.is_numeric());
    let divides = |c: char| c == '_' || (!numeric && matches!(c, '.' | ':'));
    let mut parts = Vec::new();
    for part in word.split(divides).filter(|part| !part.is_empty()) {
        match part.split_once('\'') {
            Some((first, rest)) if first.chars().count() <= 2 && rest.chars().nth(1).is_some() => {
                parts
                    .extend([first, rest].into_iter().filter(|p| !p.is_empty()).map(Cow::Borrowed));
            }
            _ if numeric && part.contains(',') => parts.push(Cow::Owned(part.replace(',', ""))),
            _ => parts.push(Cow::Borrowed(part)),
        }
    }
    parts
}

/// The stemmers of a text.
#[derive(Clone, Copy)]
struct Stemmers {
    /// The stemmer of its Latin words.
    latin: Algorithm,
}

impl Stemmers {
    /// Those of the language that a text is likely in; English where no word tells it.
    fn of(text: &str) -> Self {
        let own = Language::likely(text).and_then(|language| language.file().stemmer);
        Self { latin: own.filter(|it| *it != Algorithm::Russian).unwrap_or(Algorithm::English) }
    }

    /// The stem of a word, by the text's language or, in another script, by the script's most common one.
    fn stem(self, word: &str) -> Cow<'_, str> {
        let Some(first) = word.chars().next() else { return Cow::Borrowed(word) };
        if word.chars().any(char::is_numeric) {
            return Cow::Borrowed(word);
        }
        let rules = match first {
            'a'..='z' | '\u{00DF}'..='\u{024F}' => self.latin,
            '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}' => Algorithm::Greek,
            '\u{0400}'..='\u{04FF}' => Algorithm::Russian,
            '\u{0600}'..='\u{06FF}' => Algorithm::Arabic,
            '\u{0B80}'..='\u{0BFF}' => Algorithm::Tamil,
            _ => return Cow::Borrowed(word),
        };
        Stemmer::create(rules).stem(word)
    }

    /// The stem that a short query of the same words may have, whose language no word tells.
    fn stem_otherwise(self, word: &str) -> Cow<'_, str> {
        Self { latin: Algorithm::English }.stem(word)
    }
}

/// Removes the accents of alphabetic scripts. In other scripts marks are vowels or change the
/// letter, so they stay.
pub(super) fn bare(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let is_accent = |c: &char| {
        matches!(c, '\u{0300}'..='\u{036F}'   // Latin, Greek, Cyrillic
            | '\u{0591}'..='\u{05C7}'         // Hebrew points
            | '\u{064B}'..='\u{065F}' | '\u{0670}') // Arabic vowels
    };
    Cow::Owned(word.nfd().filter(|c| !is_accent(c)).nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(side: Side, text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        tokens(text, side, |token| found.push(token.text.to_owned()));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn normalises_spellings_of_one_word() {
        check(Side::Document, "Budgets BUDGET budget's", &["budget", "budget", "budget"]);
        check(Side::Document, "Café cafés CAFE\u{301}", &["cafe", "cafe", "cafe"]);
        check(
            Side::Document,
            "Ｂｕｄｇｅｔ ﬁne don’t don't",
            &["budget", "fine", "don't", "don't"],
        );
        check(Side::Document, "книги книга", &["книг", "книг"]);
        check(Side::Document, "went gone children", &["go", "go", "child"]);
    }

    #[test]
    fn keeps_numbers_and_splits_compound_names() {
        check(Side::Document, "$10,000 or 3.14", &["10000", "or", "3.14"]);
        check(Side::Document, "mail me@example.com", &["mail", "me", "exampl", "com"]);
        check(Side::Document, "the user_id l'appartement", &["the", "user", "id", "l", "appart"]);
    }

    #[test]
    fn unspaced_scripts_yield_pairs_and_single_characters() {
        check(Side::Query, "夏威夷的预算", &["夏威", "威夷", "夷的", "的预", "预算"]);
        check(Side::Document, "预算", &["预算", "预", "算"]);
        check(Side::Query, "猫 cat", &["猫", "cat"]);
        check(Side::Query, "コーヒー", &["コー", "ーヒ", "ヒー"]);
        check(Side::Query, "Pythonが好き", &["python", "が好", "好き"]);
    }

    #[test]
    fn vowel_signs_are_not_accents() {
        check(Side::Document, "हिन्दी भाषा", &["हिन्दी", "भाषा"]);
        check(Side::Query, "が", &["が"]);
    }

    #[test]
    fn function_words_are_light_in_every_supported_language() {
        for text in [
            "What's my",
            "Wie ist für",
            "c'est où",
            "¿Cuál está",
            "não é minha",
            "मेरा क्या",
            "什么 我的",
            "ですか",
        ] {
            tokens(text, Side::Query, |token| assert!(token.light, "{text}: {}", token.text));
        }
        for text in ["budget", "Reise", "voyage", "viaje", "orçamento", "बजट", "预算", "予算"]
        {
            tokens(text, Side::Query, |token| assert!(!token.light, "{text}: {}", token.text));
        }
    }

    #[test]
    fn text_without_words_has_no_tokens() {
        check(Side::Query, "  ?! … 🦀 '' _ \u{0}", &[]);
    }
}

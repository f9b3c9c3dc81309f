//! Greetings, thanks, farewells and bare acknowledgements, in the languages we
//! claim. A message is one only if it is nothing else: "Hi, what's my budget?"
//! is not.

use std::{collections::HashSet, sync::LazyLock};

use unicode_normalization::UnicodeNormalization;

use crate::lang;

/// Longer messages say more than a greeting.
const MAX_CHARS: usize = 60;

/// Phrases a greeting is made of, normalised: lower case, no punctuation, one space between words.
static ALL: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.greetings.phrases).collect());
/// Those that only lean on a greeting and are none alone.
static LEANING: LazyLock<HashSet<&str>> =
    LazyLock::new(|| lang::all(|file| &file.greetings.leaning).collect());
static LONGEST_WORDS: LazyLock<usize> =
    LazyLock::new(|| ALL.iter().map(|p| p.split(' ').count()).max().unwrap_or(1));

/// Whether a message is nothing but greetings. Also true of one that has no
/// letters or digits at all, such as a thumbs-up.
#[must_use]
pub fn is_greeting(text: &str) -> bool {
    if text.chars().take(MAX_CHARS + 1).count() > MAX_CHARS {
        return false;
    }
    let plain = normalise(text);
    if plain.is_empty() {
        // "?" asks to go on, "👍" does not.
        return !text.trim().is_empty() && !text.contains(['?', '？', '؟']);
    }
    // "heyyy" is "hey", "gooood" is "good".
    [plain.clone(), drawn_in(&plain, 1), drawn_in(&plain, 2)].iter().any(|plain| {
        let words: Vec<&str> = plain.split(' ').collect();
        made_of_phrases(&words)
    })
}

/// Letters written three times or more, written so many times.
fn drawn_in(plain: &str, times: usize) -> String {
    let chars: Vec<char> = plain.chars().collect();
    let run = |same: &[char]| {
        let kept = if same.len() > 2 && same[0].is_alphabetic() { times } else { same.len() };
        same[..kept].iter().collect::<String>()
    };
    chars.chunk_by(|a, b| a == b).map(run).collect()
}

/// Whether a word is a laugh: the same syllable again and again, perhaps cut off in the middle.
fn is_laugh(word: &str) -> bool {
    lang::all(|file| &file.greetings.laughs).any(|laugh| {
        let rest = word.trim_start_matches(laugh);
        let count = (word.len() - rest.len()) / laugh.len();
        count >= 2 && laugh.starts_with(rest)
    })
}

/// Lower case, apostrophes gone, other punctuation and symbols as spaces.
fn normalise(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        match c {
            '\'' | '’' => {}
            // Vowel signs and other marks belong to their word.
            c if c.is_alphanumeric() => plain.push(c),
            // Behind an emoji they only say how it is drawn.
            c if is_mark(c) && plain.ends_with(|c: char| c != ' ') => plain.push(c),
            _ if plain.ends_with(' ') || plain.is_empty() => {}
            _ => plain.push(' '),
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

fn is_mark(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// Whether words can be cut into phrases, at least one of which stands alone.
/// Characters of scripts without spaces are cut the same way, one by one.
fn made_of_phrases(words: &[&str]) -> bool {
    // reach[i]: the first i words are phrases; the flag says that one of them stands alone.
    let mut reach: Vec<Option<bool>> = vec![None; words.len() + 1];
    reach[0] = Some(false);
    for start in 0..words.len() {
        let Some(alone) = reach[start] else { continue };
        for end in start + 1..=words.len().min(start + *LONGEST_WORDS) {
            let phrase = words[start..end].join(" ");
            let found = if ALL.contains(phrase.as_str()) {
                Some(!LEANING.contains(phrase.as_str()))
            } else if end == start + 1 && is_laugh(words[start]) {
                Some(true)
            } else if end == start + 1 {
                unspaced(words[start])
            } else {
                None
            };
            if let Some(stands) = found {
                let now = alone || stands || reach[end] == Some(true);
                reach[end] = Some(now);
            }
        }
    }
    reach[words.len()] == Some(true)
}

/// Reads one "word" of a script that puts no spaces: `谢谢你好的`.
fn unspaced(word: &str) -> Option<bool> {
    if !word
        .chars()
        .any(|c| ('\u{3040}'..='\u{30ff}').contains(&c) || ('\u{4e00}'..='\u{9fff}').contains(&c))
    {
        return None;
    }
    let cuts: Vec<usize> = word.char_indices().map(|(i, _)| i).chain([word.len()]).collect();
    let mut reach: Vec<Option<bool>> = vec![None; cuts.len()];
    reach[0] = Some(false);
    for start in 0..cuts.len() {
        let Some(alone) = reach[start] else { continue };
        for end in start + 1..cuts.len() {
            let phrase = &word[cuts[start]..cuts[end]];
            if ALL.contains(phrase) {
                let now = alone || !LEANING.contains(phrase) || reach[end] == Some(true);
                reach[end] = Some(now);
            }
        }
    }
    reach[cuts.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_thanks_and_acknowledgements_are_recognised_in_every_language() {
        for text in [
            "hi",
            "Hello!",
            "hey there",
            "Thanks!!",
            "thank you",
            "bye",
            "see you",
            "OK",
            "sure.",
            "no",
            "Good morning :)",
            "ok thanks",
            "thanks a lot!",
            "Hi, how are you?",
            "👍",
            "🙏🙏",
            "Hallo!",
            "Vielen Dank",
            "guten Morgen",
            "¡Hola! ¿Qué tal?",
            "muchas gracias",
            "Bonjour",
            "d'accord, merci !",
            "Olá, tudo bem?",
            "obrigada!",
            "नमस्ते",
            "धन्यवाद!",
            "theek hai, shukriya",
            "你好",
            "谢谢你！",
            "好的，谢谢",
            "好的谢谢",
            "こんにちは",
            "ありがとうございます！",
            "了解です、ありがとう",
            "☕️",
            "thanks ❤️!",
            "heeeey",
            "THANKSSSS",
            "gooood morning",
            "olááá",
            "谢谢谢谢",
            "hahahah",
            "jajaja gracias",
            "kkkkk",
            "哈哈哈哈哈",
        ] {
            assert!(is_greeting(text), "{text}");
        }
    }

    #[test]
    fn a_greeting_with_anything_else_is_none() {
        for text in [
            "Hi, what's my budget?",
            "thanks, and the other one?",
            "ok so what about Tuesday",
            "continue",
            "there",
            "?",
            "",
            "   ",
            "yes, book it",
            "你好，我的预算是多少？",
            "我很好",
            "hola, ¿cuál es mi presupuesto?",
            "no milk",
            "and",
            "good morning, I moved to Lyon",
            "www.example.org",
            "hi5",
            "hero",
            "1000",
            "jej",
        ] {
            assert!(!is_greeting(text), "{text}");
        }
    }
}

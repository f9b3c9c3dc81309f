//! Finds digits in words, one after the other: "two eight eight one", "七二九零".

use std::{ops::Range, sync::LazyLock};

use memgate_text::rules::pattern::Pattern;

use crate::finding::pattern;

/// The digits in languages with spaces between words.
pub(in crate::secrets) const DIGIT: &str = concat!(
    "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun|cero|uno|dos|tres",
    "|cuatro|cinco|seis|siete|ocho|nueve|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|due|tre|quattro|cinque|sei|sette|otto|nove",
    "|um|dois|quatro|sete|oito|nul|een|één|twee|drie|vijf|zes|zeven|negen|ноль|нуль|один|два|три|четыре|пять|шесть|семь|восемь|девять",
    "|शून्य|एक|दो|तीन|चार|पाँच|पांच|छह|छः|छे|सात|आठ|नौ|shunya|jeden|dwa|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć|sıfır|bir|iki|üç|dört|beş|altı|yedi|sekiz|dokuz|ek|do|teen|char|chaar|paanch|panch|chhe|chhah|saat|aath|nau)",
);

/// Three or more of them.
static SEQUENCE: LazyLock<Pattern> = LazyLock::new(|| {
    let kana = "(?:ゼロ|ぜろ|れい|いち|さん|よん|ろく|なな|しち|はち|きゅう|に|し|ご|[〇零一二三四五六七八九])";
    let hangul = "[공영일이삼사오육칠팔구]";
    pattern(&format!(
        concat!(
            r"(?i)(?:^|[^\p{{L}}\p{{M}}])((?:{digit}[\s,·-]+){{2,9}}{digit})(?:[^\p{{L}}\p{{M}}]|$)",
            r"|([〇零一二三四五六七八九]{{3,8}})|({kana}(?:[・、 ]{kana}){{2,7}})|(?:^|[^\p{{Hangul}}])({hangul}(?:[ ,·-]{hangul}){{2,7}})",
        ),
        digit = DIGIT,
        kana = kana,
        hangul = hangul,
    ))
});

/// From this length on, in words, digits are a code or a number, whatever is said beside them.
const LONG: usize = 4;

/// The longest sequence, in words, that is one without a cue: longer ones count something.
const LONGEST: usize = 8;

/// Every sequence of three or more digits in words.
pub(super) fn sequences(text: &str) -> impl Iterator<Item = Range<usize>> {
    SEQUENCE.values(text).map(|it| it.value)
}

/// The sequences of words, in scripts with spaces, that need no cue. Who counts says each digit once: "one two three
/// four".
pub(super) fn long_sequences(text: &str) -> impl Iterator<Item = Range<usize>> {
    sequences(text).filter(|range| {
        let words: Vec<String> = text[range.clone()]
            .split(|c: char| c.is_whitespace() || ",·-".contains(c))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        (LONG..=LONGEST).contains(&words.len()) && !counts(&words)
    })
}

/// Whether words count: up from one, or down to it.
fn counts(words: &[String]) -> bool {
    const COUNTED: [[&str; 4]; 12] = [
        ["one", "two", "three", "four"],
        ["eins", "zwei", "drei", "vier"],
        ["een", "twee", "drie", "vier"],
        ["un", "deux", "trois", "quatre"],
        ["uno", "dos", "tres", "cuatro"],
        ["uno", "due", "tre", "quattro"],
        ["um", "dois", "três", "quatro"],
        ["один", "два", "три", "четыре"],
        ["एक", "दो", "तीन", "चार"],
        ["ek", "do", "teen", "char"],
        ["일", "이", "삼", "사"],
        ["four", "three", "two", "one"],
    ];
    COUNTED.iter().any(|row| words.windows(2).any(|pair| row.windows(2).any(|up| pair == up)))
        && words.iter().collect::<std::collections::HashSet<_>>().len() == words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_in_words_are_found_and_counting_is_none() {
        for text in ["dial nine one three three", "do paanch aath chhe", "vier vier negen een"] {
            assert_eq!(long_sequences(text).count(), 1, "{text}");
        }
        assert_eq!(sequences("さん・ろく・ろく・いち").count(), 1);
        assert_eq!(sequences("팔 공 삼 오 누르고").count(), 1);
        for text in ["one two three four, we dance", "I have two or three dogs", "sei un amico"] {
            assert_eq!(long_sequences(text).count(), 0, "{text}");
        }
    }
}

//! A text as numbers for the model: hashed n-grams of words and letters, cues
//! alone and in pairs, and the text's shape. The trainer does the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::Regex;

use super::{
    cues,
    text::{plain, tokens},
};

/// How much each kind counts, before the model weighs it.
const NGRAMS: f64 = 12.0;
const CUE: f64 = 1.2;
const PAIR: f64 = 1.2;

/// Tokens from which a text is longer, step by step.
const LENGTHS: [usize; 6] = [3, 5, 8, 12, 18, 30];

/// What a text looks like.
const SHAPES: [(&str, &str); 11] = [
    ("ask", r"[?؟]"),
    ("ask_last", r#"^¿|[?؟][\s"'”’)»!.]*$"#),
    ("quote_first", r#"^["“„«「『']"#),
    ("quote", r#"["“”„«»「」『』]"#),
    ("colon", r":"),
    ("code", r"[{}<>;=]|[a-z0-9_]\(|```|//|#"),
    ("digit", r"[0-9]"),
    ("digits", r"[0-9][0-9 -]{2,}[0-9]"),
    ("cry", r"!"),
    ("mixed", r"[a-z][^\s]*[0-9][^\s]*[a-z]|[a-z0-9][_#@!$&][a-z0-9]"),
    ("lines", r"\n"),
];

static SHAPED: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| SHAPES.iter().map(|(name, source)| (*name, pattern(source))).collect());

/// A name within a sentence.
static NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"[^\s]\s+[A-ZÀ-Þ][a-zß-ÿ]"));

#[expect(clippy::expect_used, reason = "constant; every test of a text compiles them all")]
fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a shape does not compile")
}

/// The features of a text: bucket below 2^`bits`, and value.
pub(super) fn features(text: &str, bits: u32) -> BTreeMap<usize, f64> {
    let text = text.trim();
    let low = plain(text);
    let words = tokens(&low);
    let grams = ngrams(&words, bits);
    #[expect(clippy::cast_precision_loss, reason = "a count of n-grams")]
    let share = NGRAMS / (grams.len() as f64).sqrt();
    let mut values: BTreeMap<usize, f64> = grams.into_iter().map(|gram| (gram, share)).collect();
    let mut add = |feature: &str, value| *values.entry(bucket(feature, bits)).or_default() += value;
    let found = cues::find(&low, &words);
    let mut marks: Vec<String> = found.anywhere.iter().map(|&name| name.to_owned()).collect();
    marks.extend(shapes(text, &low, words.len()));
    marks.iter().for_each(|mark| add(&format!("q {mark}"), CUE));
    found.first.iter().for_each(|name| add(&format!("q0 {name}"), CUE));
    for (number, one) in marks.iter().enumerate() {
        marks[number + 1..].iter().for_each(|other| add(&format!("p {one} {other}"), PAIR));
    }
    values
}

fn ngrams(words: &[String], bits: u32) -> BTreeSet<usize> {
    let mut grams = BTreeSet::new();
    let framed: Vec<&str> =
        ["<s>"].into_iter().chain(words.iter().map(String::as_str)).chain(["</s>"]).collect();
    for n in 1..=3 {
        grams.extend(framed.windows(n).map(|gram| bucket(&format!("w {}", gram.join(" ")), bits)));
    }
    for word in words {
        let letters: Vec<char> = format!("_{word}_").chars().collect();
        for n in 3..=5 {
            let grams_of_word = letters.windows(n).map(|gram| {
                let gram: String = gram.iter().collect();
                bucket(&format!("c {gram}"), bits)
            });
            grams.extend(grams_of_word);
        }
    }
    grams
}

fn shapes(text: &str, plain: &str, words: usize) -> Vec<String> {
    let mut shapes: Vec<String> = SHAPED
        .iter()
        .filter(|(_, pattern)| pattern.is_match(plain))
        .map(|(name, _)| (*name).to_owned())
        .collect();
    if NAME.is_match(text) {
        shapes.push("name".to_owned());
    }
    let steps = LENGTHS.iter().filter(|bound| words >= **bound).count();
    shapes.push(format!("length{steps}"));
    let ends = ['.', '!', '?', '。', '\n'];
    let sentences = plain.split(ends).filter(|part| !part.trim().is_empty()).count();
    shapes.push(format!("sentences{}", sentences.min(4)));
    shapes
}

/// FNV-1a, folded to so many bits.
fn bucket(feature: &str, bits: u32) -> usize {
    let hash = feature
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    ((hash ^ (hash >> 15)) & ((1 << bits) - 1)) as usize
}

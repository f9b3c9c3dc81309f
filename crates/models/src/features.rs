//! A text as numbers for a linear model: hashed n-grams of words and letters, cues alone and in pairs, and the
//! text's shape. The trainers read them from `examples/export_features.rs`.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use memgate_text::{
    cues,
    normal::{plain, tokens},
};

/// Changes with everything that changes a feature, the section `cues` of lang/ included: models must be trained anew then.
pub(super) const VERSION: u32 = 1;

/// Bits of the hash.
const BITS: u32 = 17;

/// How much each kind counts, before the model weighs it.
const NGRAMS: f64 = 12.0;
const CUE: f64 = 1.2;
const PAIR: f64 = 1.2;
/// A word at the beginning of what surrounds a sentence.
const CONTEXT: f64 = 1.0;

/// How many words of what surrounds a sentence count.
const BEGINNING: usize = 6;

/// Characters of each end of a longer message that are looked at: between them is what was pasted, and the work is
/// bounded.
const ENDS: usize = 600;

/// Tokens from which a text is longer, step by step.
const LENGTHS: [usize; 6] = [3, 5, 8, 12, 18, 30];

/// Features of the form of a text.
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

/// A text's features: buckets, ascending, each once, with their values.
#[derive(Debug, PartialEq)]
pub struct Features(Vec<(usize, f64)>);

impl Features {
    /// How many buckets there are.
    pub const BUCKETS: usize = 1 << BITS;

    /// Those of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        let low = plain(text);
        let words = tokens(&low);
        let mut values = ngrams(&words);
        let found = cues::find(&low, &words);
        let mut marks: Vec<&str> = found.anywhere.iter().map(|cue| cue.into()).collect();
        // The name of a pair has the names of its cues in this order.
        marks.sort_unstable();
        let shapes = shapes(text, &low, words.len());
        marks.extend(shapes.iter().map(|shape| &**shape));
        let mut add = |parts: &[&str], value| values.push((bucket(parts), value));
        marks.iter().for_each(|mark| add(&["q ", mark], CUE));
        found.first.iter().for_each(|cue| add(&["q0 ", cue.into()], CUE));
        for (number, one) in marks.iter().enumerate() {
            marks[number + 1..].iter().for_each(|other| add(&["p ", one, " ", other], PAIR));
        }
        Self::summed(values)
    }

    /// Those of a whole message, of whatever length.
    #[must_use]
    pub fn of_message(text: &str) -> Self {
        Self::of(&ends(text.trim()))
    }

    /// Those of a sentence within its message: its own, and what stands before and after it. Whether "I am allergic to
    /// cats" is said of the user shows in "translate:" before it.
    #[must_use]
    pub fn within(before: &str, sentence: &str, after: &str) -> Self {
        let Self(mut values) = Self::of(sentence);
        for (side, text) in [("b ", before), ("a ", after)] {
            let words = tokens(&plain(text));
            let mut add = |parts: &[&str], value| values.push((bucket(parts), value));
            if words.is_empty() {
                add(&[side, "nothing"], CUE);
                continue;
            }
            let found = cues::find(&plain(text), &words);
            found.anywhere.iter().for_each(|cue| add(&[side, cue.into()], CUE));
            shapes(text, &plain(text), words.len())
                .iter()
                .for_each(|shape| add(&[side, "q ", shape], CUE));
            for at in 0..words.len().min(BEGINNING) {
                add(&[side, "w ", &words[at]], CONTEXT);
                if at > 0 {
                    add(&[side, "w ", &words[at - 1], " ", &words[at]], CONTEXT);
                }
            }
        }
        Self::summed(values)
    }

    /// Buckets in order, each once.
    fn summed(mut values: Vec<(usize, f64)>) -> Self {
        values.sort_by_key(|&(bucket, _)| bucket);
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Self(values)
    }

    /// Buckets and their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.0.iter().copied()
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The two ends of a long text, a short one whole.
fn ends(text: &str) -> Cow<'_, str> {
    let from = |mut places: Box<dyn Iterator<Item = usize> + '_>| places.nth(ENDS);
    let head = from(Box::new(text.char_indices().map(|(at, _)| at)));
    let behind = from(Box::new(text.char_indices().rev().map(|(at, c)| at + c.len_utf8())));
    match (head, behind) {
        (Some(head), Some(tail)) if head < tail => {
            Cow::Owned(format!("{} {}", &text[..head], &text[tail..]))
        }
        _ => Cow::Borrowed(text),
    }
}

/// The n-grams of words and of letters. However many, together they weigh the same.
fn ngrams(words: &[String]) -> Vec<(usize, f64)> {
    let mut grams = Vec::new();
    let framed: Vec<&str> =
        ["<s>"].into_iter().chain(words.iter().map(String::as_str)).chain(["</s>"]).collect();
    grams.extend(framed.windows(1).map(|gram| bucket(&["w ", gram[0]])));
    grams.extend(framed.windows(2).map(|gram| bucket(&["w ", gram[0], " ", gram[1]])));
    grams
        .extend(framed.windows(3).map(|gram| bucket(&["w ", gram[0], " ", gram[1], " ", gram[2]])));
    let mut letters = String::new();
    let mut starts = Vec::new();
    for word in words {
        letters.clear();
        letters.extend(["_", word, "_"]);
        starts.clear();
        starts.extend(letters.char_indices().map(|(at, _)| at));
        starts.push(letters.len());
        for n in 3..=5 {
            let grams_of_word = starts.windows(n + 1).map(|at| &letters[at[0]..at[n]]);
            grams.extend(grams_of_word.map(|gram| bucket(&["c ", gram])));
        }
    }
    grams.sort_unstable();
    grams.dedup();
    #[expect(clippy::cast_precision_loss, reason = "a count of n-grams")]
    let share = NGRAMS / (grams.len() as f64).sqrt();
    grams.into_iter().map(|gram| (gram, share)).collect()
}

fn shapes(text: &str, plain: &str, words: usize) -> Vec<Cow<'static, str>> {
    let mut shapes: Vec<Cow<'_, str>> = SHAPED
        .iter()
        .filter(|(_, pattern)| pattern.is_match(plain))
        .map(|(name, _)| Cow::Borrowed(*name))
        .collect();
    if NAME.is_match(text) {
        shapes.push("name".into());
    }
    let steps = LENGTHS.iter().filter(|bound| words >= **bound).count();
    shapes.push(format!("length{steps}").into());
    let ends = ['.', '!', '?', '。', '\n'];
    let sentences = plain.split(ends).filter(|part| !part.trim().is_empty()).count();
    shapes.push(format!("sentences{}", sentences.min(4)).into());
    shapes
}

/// FNV-1a of all parts, folded to a bucket.
fn bucket(parts: &[&str]) -> usize {
    let bytes = parts.iter().flat_map(|part| part.bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)) as usize & (Features::BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_ends_only_where_it_is_longer_than_both() {
        let whole = "é".repeat(2 * ENDS);
        assert_eq!(ends(&whole), whole);
        assert_eq!(ends(&format!("{whole}é")).chars().count(), 2 * ENDS + 1);
    }
}

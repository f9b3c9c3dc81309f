//! Whether a message can be understood without the messages before it.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    index, lang,
    question::asking::{ASKING_CHARS, first_chars, width},
};

/// Messages up to this long are often vague ("and the hotel?"), unless they name something of the user's ("when is my
/// rent due?"). In letters, as [`width`] counts them.
const VAGUE_WIDTH: usize = 20;

/// How a message begins that depends on those before it.
static VAGUE: LazyLock<Regex> =
    LazyLock::new(|| any(r"^\W*(?:", lang::all(|file| &file.questions.vague), ")"));

/// A possessive with the word for the thing behind. "Mine" has none.
static OWN: LazyLock<Regex> =
    LazyLock::new(|| any("(?:", lang::all(|file| &file.questions.own), ")"));

/// A beginning that continues a topic although it names another thing: "and my sister?".
static GOES_ON: LazyLock<Regex> =
    LazyLock::new(|| any("(?:", lang::all(|file| &file.questions.goes_on), ")"));

#[expect(clippy::expect_used, reason = "the patterns are constants; the tests compile them")]
fn any<'a>(before: &str, patterns: impl Iterator<Item = &'a str>, after: &str) -> Regex {
    let patterns: Vec<&str> = patterns.collect();
    Regex::new(&format!("(?i){before}{}{after}", patterns.join("|"))).expect("a pattern compiles")
}

/// Whether a message can be understood without the messages before it. Only its beginning is looked at.
pub fn is_self_contained(message: &str) -> bool {
    let begins = first_chars(message.trim(), ASKING_CHARS);
    let names_own = || OWN.is_match(begins) && !GOES_ON.is_match(begins);
    (width(begins) > VAGUE_WIDTH || names_own()) && !is_vague(message) && says_something(begins)
}

/// Whether a message depends on the messages before it and says little else: "how much?".
pub fn is_follow_up(message: &str) -> bool {
    is_vague(message) && width(first_chars(message.trim(), VAGUE_WIDTH + 1)) <= VAGUE_WIDTH
}

/// Whether a message begins like one that depends on the messages before it.
fn is_vague(message: &str) -> bool {
    VAGUE.is_match(first_chars(message.trim(), ASKING_CHARS))
}

/// One word of meaning is too few; a run of a script without spaces is several.
fn says_something(message: &str) -> bool {
    index::content_words(message).len() > 1 || message.chars().any(index::is_unspaced)
}

//! Whether a message can be understood without the messages before it.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    index,
    question::asking::{ASKING_CHARS, first_chars, width},
};

/// Messages up to this long are often vague ("and the hotel?"), unless they name something of the user's ("when is my
/// rent due?"). In letters, as [`width`] counts them.
const VAGUE_WIDTH: usize = 20;

#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static VAGUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)^\W*(?:",
        r"how (?:much|many|long|about)\W*$|what about|how about|what else|and (?:that|this|the|what|how|when|where|who|why|for)\b",
        r"|(?:this|that|the)(?: \w+)? ones?\b|same (?:as|again|for)\b|go on|continue|tell me more|why\W*$|when\W*$|where\W*$|who\W*$",
        r"|und (?:das|die|der|was|wie|wann|wo|wer)\b|wie viel\W*$|was ist mit\b|weiter\W*$",
        r"|y (?:el|la|los|las|qué|eso|cuándo|cuánto)\b|cuánto\W*$|qué tal\b|continúa",
        r"|et (?:le|la|les|ça|pour|quand|combien)\b|combien\W*$|continue",
        r"|e (?:o|a|os|as|quando|quanto|isso)\b|quanto\W*$|continua",
        r"|aur (?:wo|woh|kya)\b|kitna\W*$|और (?:वो|वह|क्या)",
        r"|那(?:个|么|呢)|还有呢|继续|多少|それ|あれ|続けて|いくら",
        r")"
    ))
    .expect("a constant pattern compiles")
});

/// What is somebody's, with the word for it behind. "Mine" has none.
#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static OWN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)\b(?:my|our|meine?[nmrs]?|unsere?[nmrs]?|mis?|nuestr[oa]s?|mon|ma|mes|notre|nos|meus?|minhas?|nossas?|nossos?",
        r"|mer[aei]|hamar[aei])\s+\w{2}|(?:मेरा|मेरी|मेरे|हमारा|हमारी|हमारे)\s+\w|(?:我|我们|我們)的?(?:家|女|儿|老|妈|爸|妹|弟|姐|哥|狗|猫|车)|[私僕俺]の\w",
    ))
    .expect("a constant pattern compiles")
});

/// What goes on with something although it names something else: "and my sister?".
#[expect(clippy::expect_used, reason = "the pattern is a constant; the tests compile it")]
static GOES_ON: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:and|und|y|et|e|aur|और|那)(?:\b|\p{Han})|呢\W*$")
        .expect("a constant pattern compiles")
});

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

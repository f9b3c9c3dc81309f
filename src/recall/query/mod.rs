//! From the last user message to what is searched for: as it is when it stands
//! for itself, with key terms of the last user messages when it does not; in parts when it asks for
//! several things; and what it tells of the time and the type of memory that is meant.
//!
//! It must never know what is stored, nor how hits are ranked.

mod dates;
mod key_terms;
mod kind;
mod parts;
mod relative;
mod statement;
mod words;

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use regex::Regex;

pub use self::dates::Times;
use super::{Help, Words};
use crate::{
    embed::{Asking, asking_part},
    recall::settings::QueryConfig,
    store::lexical,
    telemetry::Technique,
};

/// Messages up to this long are often vague ("and the hotel?"), unless they name something of the user's ("when is my
/// rent due?"). Ideographs and kana count [`CJK_WIDTH`] each, since one says about as much as a short word.
const VAGUE_WIDTH: usize = 20;
const CJK_WIDTH: usize = 3;
/// A longer message is pasted text around a question; about what the 64 tokens
/// hold that are embedded of a query.
const ASKING_CHARS: usize = 280;

/// What is searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text for both dense and lexical search.
    pub text: String,
    /// The parts of a question that asks for several things, searched beside it; else none.
    pub parts: Vec<String>,
    /// A question as a statement, embedded in its place; else none.
    pub statement: Option<String>,
    /// What it tells beside its words.
    pub asked: Asked,
    /// The message's own words, for a model …
    pub message: String,
    /// … that may help so …
    pub help: Option<Help>,
    /// … within this time.
    pub patience: Duration,
    /// What was made of the message, and how long that took.
    pub used: Vec<(Technique, Duration)>,
}

/// What a question tells of the memories it wants. Hints, never filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// When they were learnt.
    pub times: Times,
    /// Their type.
    pub prefers: Option<&'static str>,
}

/// Builds the query. `earlier` are the user's messages before this one, oldest first; `now` is the time of asking.
#[must_use]
pub fn build(message: &str, earlier: &[&str], now: Timestamp, techniques: &QueryConfig) -> Query {
    let asking = asking(message);
    let mut query = hints(&asking, now, techniques);
    let vague = !is_self_contained(message);
    if vague && !earlier.is_empty() {
        query.help = Help::of(Some(Words::Rewrite), techniques.self_query);
    }
    if techniques.key_terms && vague {
        let terms =
            query.timed(Technique::KeyTerms, || key_terms::of(&asking, earlier), Vec::is_empty);
        if terms.is_empty() {
            tracing::debug!("No history, query-only search");
        } else {
            query.text = format!("{asking} {}", terms.join(" "));
            // It says too little by itself, in whatever form.
            query.statement = None;
            return query;
        }
    }
    query.text = asking;
    query
}

/// Compiles the patterns, which takes longer than a request may wait.
pub fn prepare() {
    let all = QueryConfig { parts: true, statements: true, ..QueryConfig::default() };
    // With something said before it: that there is no history is told of real questions only.
    let _ = build("Is it?", &["A flight to Rome"], Timestamp::UNIX_EPOCH, &all);
}

impl Query {
    /// A query in the words of somebody who searches, which stand for themselves.
    #[must_use]
    pub fn of(words: &str, now: Timestamp, techniques: &QueryConfig) -> Self {
        Self { text: words.to_owned(), ..hints(&asking(words), now, techniques) }
    }

    /// What a technique makes of the message; noted where it is something.
    fn timed<T>(
        &mut self,
        technique: Technique,
        make: impl FnOnce() -> T,
        empty: fn(&T) -> bool,
    ) -> T {
        let began = Instant::now();
        let made = make();
        if !empty(&made) {
            self.used.push((technique, began.elapsed()));
        }
        made
    }
}

/// All but the text.
fn hints(asking: &str, now: Timestamp, techniques: &QueryConfig) -> Query {
    let mut query = Query {
        message: asking.to_owned(),
        help: Help::of(techniques.hyde.then_some(Words::Hypothesis), techniques.self_query),
        patience: techniques.rewrite_deadline(),
        ..Query::default()
    };
    if techniques.statements {
        query.statement =
            query.timed(Technique::Statements, || statement::of(asking), Option::is_none);
    }
    if techniques.times {
        query.asked.times =
            query.timed(Technique::Times, || Times::of(asking, now), Times::is_empty);
    }
    if techniques.types {
        query.asked.prefers =
            query.timed(Technique::Types, || kind::asked_for(asking), Option::is_none);
    }
    if techniques.parts {
        query.parts = query.timed(Technique::Parts, || parts::of(asking), Vec::is_empty);
    }
    query
}

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

/// Whether a message can be understood without what came before it. How it
/// begins tells, whatever its size.
fn is_self_contained(message: &str) -> bool {
    let begins = first_chars(message.trim(), ASKING_CHARS);
    let names_own = || OWN.is_match(begins) && !GOES_ON.is_match(begins);
    (width(begins) > VAGUE_WIDTH || names_own()) && !is_vague(message) && says_something(begins)
}

/// Whether a message leans on what came before it and says little else: "how much?".
pub(super) fn is_follow_up(message: &str) -> bool {
    is_vague(message) && width(first_chars(message.trim(), VAGUE_WIDTH + 1)) <= VAGUE_WIDTH
}

/// Whether a message begins like one that leans on what came before it.
fn is_vague(message: &str) -> bool {
    VAGUE.is_match(first_chars(message.trim(), ASKING_CHARS))
}

/// One word of meaning is too few; a run of a script without spaces is several.
fn says_something(message: &str) -> bool {
    lexical::content_words(message).len() > 1 || message.chars().any(lexical::is_unspaced)
}

/// About how much a text says, in letters of an alphabet.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| if lexical::is_unspaced(c) { CJK_WIDTH } else { 1 }).sum()
}

/// The part of a message that asks: all of a short one; of a long one the last
/// question, or both ends, where people say what is to be done with the text between.
pub(super) fn asking(message: &str) -> String {
    let message = message.trim();
    if first_chars(message, ASKING_CHARS).len() == message.len() {
        return message.to_owned();
    }
    match asking_part(message) {
        Asking::Question(question) => last_chars(question, ASKING_CHARS).trim().to_owned(),
        Asking::Ends { head, tail } => {
            let half = ASKING_CHARS / 2;
            format!("{} {}", first_chars(head, half).trim(), last_chars(tail, half).trim())
        }
    }
}

fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

fn last_chars(text: &str, count: usize) -> &str {
    let start =
        text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn build(message: &str, earlier: &[&str]) -> Query {
        super::build(message, earlier, Timestamp::UNIX_EPOCH, &QueryConfig::default())
    }

    #[test]
    fn a_self_contained_message_is_searched_as_it_is() {
        let query = build("What's my budget for the Hawaii trip?", &["We fly in May"]);
        assert_eq!(query.text, "What's my budget for the Hawaii trip?");
        assert!(query.used.is_empty());
    }

    #[test]
    fn a_short_message_that_names_what_it_wants_is_searched_as_it_is() {
        let earlier = ["We fly to Hawaii in May", "hotels there"];
        for message in ["When is my rent due?", "how is my dog named", "我的医生叫什么"] {
            let query = build(message, &earlier);
            assert_eq!((&*query.text, query.help), (message, None));
        }
        for message in [
            "and the hotel?",
            "and my new car?",
            "the cheap one?",
            "is mine valid then",
            "什么时候",
            "那我的妈妈呢",
        ] {
            assert!(build(message, &earlier).text.contains("Hawaii"), "{message}");
        }
    }

    #[test]
    fn a_vague_message_gets_the_key_terms_of_the_last_three_user_messages() {
        let query = build(
            "How much?",
            &["Tell me about Norway", "Planning a Hawaii vacation", "hotels there", "and flights"],
        );
        assert_eq!(query.used[0].0, Technique::KeyTerms);
        for term in ["Hawaii", "vacation", "hotels", "flights"] {
            assert!(query.text.contains(term), "{}", query.text);
        }
        assert!(!query.text.contains("Norway"), "{}", query.text);
    }

    #[test]
    fn a_vague_message_without_history_is_searched_as_it_is() {
        let query = build("How much?", &[]);
        assert_eq!((&*query.text, query.used.len()), ("How much?", 0));
    }

    #[test]
    fn key_terms_are_bounded() {
        let long: String = (0..200).map(|i| format!("word{i} ")).collect();
        let query = build("and that?", &[&long]);
        assert!(query.text.split_whitespace().count() <= 2 + key_terms::MOST);
    }

    #[test]
    fn what_is_switched_off_makes_nothing_of_a_message() {
        let off =
            QueryConfig { key_terms: false, times: false, types: false, ..QueryConfig::default() };
        for message in
            ["and that one?", "When did I see Ana last week and what did I promise to bring?"]
        {
            let query = super::build(message, &["We fly to Rome"], Timestamp::UNIX_EPOCH, &off);
            assert_eq!((&*query.text, query.used.len()), (message, 0));
            assert_eq!((query.asked, query.parts.len()), (Asked::default(), 0));
            assert!(!build(message, &["We fly to Rome"]).used.is_empty());
        }
    }

    #[test]
    fn what_is_switched_on_makes_something_of_a_message() {
        let on =
            QueryConfig { parts: true, statements: true, hyde: true, ..QueryConfig::default() };
        let build = |message: &str| super::build(message, &[], Timestamp::UNIX_EPOCH, &on);
        assert_eq!(build("When is the recital of Mia and what did I promise?").parts.len(), 2);
        let query = build("What's my budget for the Hawaii trip?");
        assert_eq!(query.statement.as_deref(), Some("my budget for the Hawaii trip is"));
        assert_eq!(query.help, Some(Help::Words(Words::Hypothesis)));
    }

    #[test]
    fn a_model_is_to_rewrite_what_is_vague_and_has_a_history() {
        let rewrite = Help::Words(Words::Rewrite);
        assert_eq!(build("How much?", &["We fly to Rome"]).help, Some(rewrite));
        assert_eq!(build("How much?", &[]).help, None);
        assert_eq!(build("What's my budget for the Hawaii trip?", &["We fly"]).help, None);
    }

    #[test]
    fn a_model_that_tells_conditions_is_asked_once_for_all() {
        let help = |message: &str, hyde| {
            let on = QueryConfig { self_query: true, hyde, ..QueryConfig::default() };
            super::build(message, &["We fly to Rome"], Timestamp::UNIX_EPOCH, &on).help
        };
        let clear = "What's my budget for the Hawaii trip?";
        let with = |words| Some(Help::Conditions(words));
        assert_eq!(help(clear, false), with(None));
        assert_eq!(help(clear, true), with(Some(Words::Hypothesis)));
        assert_eq!(help("How much?", true), with(Some(Words::Rewrite)));
    }

    #[test]
    fn a_query_of_somebody_who_searches_is_taken_as_it_is() {
        let query = Query::of("rome", Timestamp::UNIX_EPOCH, &QueryConfig::default());
        assert_eq!(query.text, "rome");
        let query =
            Query::of("plans of last summer", Timestamp::UNIX_EPOCH, &QueryConfig::default());
        assert!(!query.asked.times.is_empty());
    }

    #[test]
    fn that_there_is_no_history_is_logged_of_a_question_and_not_at_the_start() {
        let logged = |act: fn()| {
            let (reader, writer) = std::io::pipe().unwrap();
            let lines = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::DEBUG)
                .with_writer(std::sync::Mutex::new(writer));
            tracing::subscriber::with_default(lines.finish(), act);
            std::io::read_to_string(reader).unwrap()
        };
        assert!(!logged(prepare).contains("No history"));
        let ask = || drop(build("How much?", &[]));
        assert!(logged(ask).contains("No history, query-only search"));
    }

    #[test]
    fn a_question_is_read_in_less_than_two_milliseconds() {
        prepare();
        let question = "When did I see Ana last week, and how do I get to her house in March 2026?";
        let began = Instant::now();
        for _ in 0..200 {
            assert_eq!(build(question, &["We fly to Rome"]).used.len(), 2);
        }
        assert!(began.elapsed() < Duration::from_millis(400), "{:?}", began.elapsed());
    }

    #[test]
    fn messages_of_any_size_take_no_longer() {
        for unit in ["x?x", "आज मौसम बहुत अच्छा है। ", "word "]
        {
            let long = unit.repeat(2_000_000 / unit.len());
            let started = std::time::Instant::now();
            for _ in 0..20 {
                assert!(build(&long, &[]).text.chars().count() <= ASKING_CHARS + 1);
                assert!(build("and that?", &[&long, &long]).text.len() < 1_000);
            }
            assert!(started.elapsed() < std::time::Duration::from_secs(5), "{unit}");
        }
    }

    #[test]
    fn of_a_long_message_the_question_is_searched() {
        let pasted = "Lorem ipsum dolor sit amet. ".repeat(100);
        let query = build(&format!("{pasted} What would my sister say to this text?"), &[]);
        assert!(query.text.ends_with("What would my sister say to this text?"), "{}", query.text);
        assert!(query.text.chars().count() <= ASKING_CHARS + 1);
    }

    #[test]
    fn a_long_message_without_a_question_gives_its_beginning_and_end() {
        let pasted = "Lorem ipsum dolor sit amet. ".repeat(100);
        let query =
            build(&format!("Summarise this for my boss: {pasted} Keep it to two lines."), &[]);
        assert!(query.text.starts_with("Summarise this for my boss"), "{}", query.text);
        assert!(query.text.ends_with("Keep it to two lines."), "{}", query.text);
    }
}

//! Builds the query from the user's last message: the message itself, with key terms of the messages before it when it
//! depends on them; in parts when it asks for several things; with the time that it names.

use std::time::{Duration, Instant};

use jiff::civil::Date;

use crate::{
    query::rewrite::{Help, Words},
    settings::QueryConfig,
};
use memgate_text::{
    question::{as_statement, asking::asking, decompose, key_terms, vague::is_self_contained},
    time::question_dates::Times,
};

/// A query: words, a meaning, and hints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The text for both dense and lexical search.
    pub text: String,
    /// Words of earlier messages that complete a vague message; they are part of `text`.
    pub key_terms: Vec<String>,
    /// The parts of a question that asks for several things, searched beside it; else none.
    pub parts: Vec<String>,
    /// A question as a statement, embedded in its place; else none.
    pub statement: Option<String>,
    /// Hints about the memories it wants.
    pub asked: Asked,
    /// The message's own words, for the rewrite model.
    pub message: String,
    /// The request to the rewrite model, if it is asked.
    pub help: Option<Help>,
    /// How long the rewrite model is waited for.
    pub patience: Duration,
    /// The techniques that found something in the message, and how long each took.
    pub used: Vec<(Technique, Duration)>,
}

/// A technique that prepares a query for the search, by the key of `memory.query` that sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Technique {
    /// Key terms of earlier messages, for a vague query.
    KeyTerms,
    /// Times that the query names.
    Times,
    /// The parts of a query that asks for several things.
    Decompose,
    /// A statement in place of a question.
    QuestionToStatement,
    /// A vague query, rewritten by a model.
    Rewrite,
    /// A guessed answer by a model (HyDE).
    Hyde,
    /// A metadata filter that a model reads from the query.
    SelfQuery,
}

/// Hints of a question about the memories it wants; never filters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// When they were learnt.
    pub times: Times,
}

/// Builds the query. `earlier` are the user's messages before this one, oldest first; `today` is the day of asking.
#[must_use]
pub fn build(message: &str, earlier: &[&str], today: Date, techniques: &QueryConfig) -> Query {
    let asking = asking(message);
    let mut query = hints(&asking, today, techniques);
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
            query.key_terms = terms;
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
    let all =
        QueryConfig { decompose: true, question_to_statement: true, ..QueryConfig::default() };
    // With an earlier message: the log line about a missing history is for real questions only.
    let _ = build("Is it?", &["A flight to Rome"], Date::default(), &all);
}

impl Query {
    /// A query in the words of somebody who searches; they are taken as they are.
    #[must_use]
    pub fn of(words: &str, today: Date, techniques: &QueryConfig) -> Self {
        Self { text: words.to_owned(), ..hints(&asking(words), today, techniques) }
    }

    /// Runs a technique, and notes it where it finds something.
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
fn hints(asking: &str, today: Date, techniques: &QueryConfig) -> Query {
    let mut query = Query {
        message: asking.to_owned(),
        help: Help::of(techniques.hyde.then_some(Words::Hypothesis), techniques.self_query),
        patience: techniques.rewrite_deadline(),
        ..Query::default()
    };
    if techniques.question_to_statement {
        query.statement = query.timed(
            Technique::QuestionToStatement,
            || as_statement::of(asking),
            Option::is_none,
        );
    }
    if techniques.times {
        query.asked.times =
            query.timed(Technique::Times, || Times::of(asking, today), Times::is_empty);
    }
    if techniques.decompose {
        query.parts = query.timed(Technique::Decompose, || decompose::of(asking), Vec::is_empty);
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_no_square;
    use memgate_text::question::asking::ASKING_CHARS;

    fn build(message: &str, earlier: &[&str]) -> Query {
        super::build(message, earlier, Date::default(), &QueryConfig::default())
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
        let off = QueryConfig { key_terms: false, times: false, ..QueryConfig::default() };
        for message in
            ["and that one?", "When did I see Ana last week and what did I promise to bring?"]
        {
            let query = super::build(message, &["We fly to Rome"], Date::default(), &off);
            assert_eq!((&*query.text, query.used.len()), (message, 0));
            assert_eq!((query.asked, query.parts.len()), (Asked::default(), 0));
            assert!(!build(message, &["We fly to Rome"]).used.is_empty());
        }
    }

    #[test]
    fn what_is_switched_on_makes_something_of_a_message() {
        let on = QueryConfig {
            decompose: true,
            question_to_statement: true,
            hyde: true,
            ..QueryConfig::default()
        };
        let build = |message: &str| super::build(message, &[], Date::default(), &on);
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
            super::build(message, &["We fly to Rome"], Date::default(), &on).help
        };
        let clear = "What's my budget for the Hawaii trip?";
        let with = |words| Some(Help::Conditions(words));
        assert_eq!(help(clear, false), with(None));
        assert_eq!(help(clear, true), with(Some(Words::Hypothesis)));
        assert_eq!(help("How much?", true), with(Some(Words::Rewrite)));
    }

    #[test]
    fn a_query_of_somebody_who_searches_is_taken_as_it_is() {
        let query = Query::of("rome", Date::default(), &QueryConfig::default());
        assert_eq!(query.text, "rome");
        let query = Query::of("plans of last summer", Date::default(), &QueryConfig::default());
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
    fn messages_of_any_size_take_no_longer() {
        for unit in ["x?x", "आज मौसम बहुत अच्छा है। ", "word "]
        {
            assert_no_square(unit, 60_000, |bytes| {
                let long = unit.repeat(bytes / unit.len());
                assert!(build(&long, &[]).text.chars().count() <= ASKING_CHARS + 1);
                assert!(build("and that?", &[&long, &long]).text.len() < 1_000);
            });
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

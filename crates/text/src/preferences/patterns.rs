//! The patterns of preferences of each language, compiled.
//!
//! A pattern of `values` matches a whole clause; `{answer}` and the other names in braces stand for the alternatives of
//! the list of that name.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::{Regex, RegexSet};
use strum::VariantArray as _;

use crate::{
    lang::{
        Language,
        keys::{PreferenceValue, PreferenceWords},
    },
    normal::is_cjk,
    preferences::AnswerLanguage,
};

/// A name, where a pattern has one. The captured text is checked by itself.
const NAME: &str = "(?<name>.+?)";

/// A topic.
const TOPIC: &str = "(?<topic>[^,，、;:.!?。！？]+?)";

/// The patterns of one language.
pub(super) struct Patterns {
    pub(super) please: Option<Regex>,
    pub(super) lasting: Option<Regex>,
    pub(super) prefer: Option<Regex>,
    pub(super) filler: Option<Regex>,
    pub(super) bound: Option<Regex>,
    pub(super) at_hand: Option<Regex>,
    pub(super) between: Option<Regex>,
    pub(super) answer: Option<Regex>,
    pub(super) no_name: Option<Regex>,
    /// A verb that asks for something, before more words.
    pub(super) asks: Option<Regex>,
    /// Which values a clause states.
    pub(super) values: RegexSet,
    /// Each pattern with its value.
    pub(super) value: Vec<(PreferenceValue, Regex)>,
    pub(super) languages: BTreeMap<AnswerLanguage, Regex>,
    pub(super) wishes: Vec<Regex>,
}

/// The patterns of all languages.
pub(super) static PATTERNS: LazyLock<Vec<Patterns>> =
    LazyLock::new(|| Language::ALL.iter().map(|language| Patterns::of(*language)).collect());

impl Patterns {
    fn of(language: Language) -> Self {
        let (words, values) = (language.preference_words(), language.preference_values());
        let names = language.answer_languages();
        let list = |list: PreferenceWords| alternatives(words.of(list));
        let within = |key| list(key).map(|of| compiled(&of));
        let at_end = |key| list(key).map(|of| compiled(&format!(r"^(?:{of})|(?:{of})$")));
        let verbs = [PreferenceWords::Do, PreferenceWords::Answer].map(|list| words.of(list));
        let all_names: Vec<String> = names.entries().map(|(_, entry)| entry.to_owned()).collect();
        let expanded = |pattern: &str| {
            let mut pattern = pattern.replace("{name}", NAME).replace("{topic}", TOPIC);
            let of = alternatives(&all_names).unwrap_or_default();
            pattern = pattern.replace("{language}", &format!("(?<language>{of})"));
            for key in PreferenceWords::VARIANTS {
                let name: &'static str = key.into();
                let of = words.of(*key).join("|");
                pattern = pattern.replace(&format!("{{{name}}}"), &format!("(?:{of})"));
            }
            format!("^(?:{pattern})$")
        };
        let value: Vec<(PreferenceValue, String)> =
            values.entries().map(|(value, pattern)| (value, expanded(pattern))).collect();
        Self {
            please: within(PreferenceWords::Please),
            lasting: within(PreferenceWords::Lasting),
            prefer: list(PreferenceWords::Prefer).map(|of| compiled(&format!("^(?:{of})"))),
            filler: at_end(PreferenceWords::Filler),
            bound: within(PreferenceWords::Bound),
            at_hand: within(PreferenceWords::AtHand),
            between: within(PreferenceWords::And),
            answer: within(PreferenceWords::Answer),
            no_name: list(PreferenceWords::NoName).map(|of| compiled(&format!("^(?:{of})"))),
            asks: alternatives(&verbs.concat()).map(|of| compiled(&format!("^(?:{of}) "))),
            values: set(value.iter().map(|(_, pattern)| pattern)),
            value: value.iter().map(|(value, pattern)| (*value, compiled(pattern))).collect(),
            languages: AnswerLanguage::VARIANTS
                .iter()
                .filter_map(|of| {
                    let names = alternatives(names.of(*of))?;
                    Some((*of, compiled(&format!("^(?:{names})$"))))
                })
                .collect(),
            wishes: words
                .of(PreferenceWords::Wish)
                .iter()
                .map(|pattern| compiled(&expanded(pattern)))
                .collect(),
        }
    }
}

/// The entries as one pattern, each as whole words in scripts that have spaces.
fn alternatives(entries: &[String]) -> Option<String> {
    let spaced = |entry: &str| !entry.chars().any(|c| is_cjk(c) || is_hangul(c));
    let whole = |entry: &String| match spaced(entry) {
        true => format!(r"\b(?:{entry})\b"),
        false => format!("(?:{entry})"),
    };
    (!entries.is_empty()).then(|| entries.iter().map(whole).collect::<Vec<_>>().join("|"))
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7af}')
}

fn ignoring_case(pattern: &str) -> String {
    format!("(?i){pattern}")
}

#[expect(clippy::expect_used, reason = "constant; every test here compiles them all")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(&ignoring_case(pattern)).expect("a pattern of preferences does not compile")
}

#[expect(clippy::expect_used, reason = "constant; every test here compiles them all")]
fn set<'p>(patterns: impl Iterator<Item = &'p String>) -> RegexSet {
    RegexSet::new(patterns.map(|pattern| ignoring_case(pattern)))
        .expect("a pattern of preferences does not compile")
}

//! The structure of `lang/*.toml`.

use rust_stemmers::Algorithm;
use serde::Deserialize;

use crate::lang::answers::AnswerLanguage;
use crate::lang::{
    keys::{
        Cue, DateWord, Day, List, Mark, NameWords, Pasted, Person, PreferenceValue,
        PreferenceWords, Rule, Slot, TimePhrase,
    },
    lists::Lists,
};

/// A language's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The language in English.
    pub name: String,
    /// Its code by ISO 639-3, by which the library that tells languages knows it.
    pub iso639_3: String,
    /// The rules of its stems; of a language without any, words are compared as they are.
    pub stemmer: Option<Algorithm>,
    pub sentences: Sentences,
    pub pointing: Pointing,
    pub alone: Alone,
    pub first_person: FirstPerson,
    pub greetings: Greetings,
    pub index: Index,
    pub cues: Lists<Cue>,
    pub change: Lists<Mark>,
    pub topic: Topic,
    pub attributes: Lists<Slot>,
    pub people: Lists<Person>,
    pub days: Lists<Day>,
    pub dates: Lists<DateWord>,
    pub times: Times,
    pub subject: Subject,
    pub forgetting: Forgetting,
    pub commands: Lists<List>,
    pub preferences: Preferences,
    pub rules: Lists<Rule>,
    pub pasted: Lists<Pasted>,
    pub names: Lists<NameWords>,
    pub questions: Questions,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sentences {
    pub asking: Vec<String>,
    pub asking_within: Vec<String>,
    pub asking_last: Vec<String>,
    pub asking_first: Vec<String>,
    pub leading: Vec<String>,
    pub telling: Vec<String>,
    pub telling_first: Vec<String>,
    pub abbreviations: Vec<String>,
    pub closing_abbreviations: Vec<String>,
    pub before_ordinals: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pointing {
    pub first: Vec<String>,
    pub first_parts: Vec<String>,
    pub within: Vec<String>,
}

/// Words and patterns that tell whether a text can be read alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alone {
    /// First words that join a text to the one before.
    pub joining: Vec<String>,
    /// First words that name nobody.
    pub pronouns: Vec<String>,
    /// Patterns of words that say that something is over. Only evaluations use these and `pronouns`.
    pub ended: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FirstPerson {
    pub words: Vec<String>,
    pub within: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Greetings {
    pub phrases: Vec<String>,
    pub leaning: Vec<String>,
    pub laughs: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Index {
    pub stop_words: Vec<String>,
    pub stop_characters: Vec<String>,
    pub irregular: Vec<String>,
    pub grammar: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    pub generic: Vec<String>,
    pub alike: Vec<String>,
    pub trusted: Vec<String>,
}

/// Times told from the day on which they are said, besides those of `lang/cldr/`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Times {
    /// The words for 1, 2, 3 ….
    pub numbers: Vec<Vec<String>>,
    /// Spring, summer, autumn and winter.
    pub seasons: [Vec<String>; 4],
    /// Phrases that are other words in other languages, so that they count only in a text of this one: French "hier".
    pub own_language_only: Vec<String>,
    pub phrases: Lists<TimePhrase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Subject {
    pub user: Vec<String>,
    pub others: Vec<String>,
    pub verbs: Vec<String>,
    pub no_names: Vec<String>,
    pub my: Vec<String>,
    pub is: Vec<String>,
    pub to_the_user: Vec<String>,
    pub and_the_user: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forgetting {
    pub grammar: Vec<String>,
    pub grammar_characters: Vec<String>,
    pub denial_characters: Vec<String>,
    pub denials: Vec<String>,
    pub owners: Vec<String>,
    pub speaker: Vec<String>,
    pub small: Vec<String>,
    pub others: Vec<String>,
    pub naming: Vec<String>,
    pub farewells: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preferences {
    pub words: Lists<PreferenceWords>,
    pub values: Lists<PreferenceValue>,
    /// The names of languages, as patterns.
    pub languages: Lists<AnswerLanguage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    /// Patterns of questions for something that the assistant said.
    pub replies: Vec<String>,
    pub vague: Vec<String>,
    pub own: Vec<String>,
    pub goes_on: Vec<String>,
    pub next: Vec<String>,
    pub statements: Vec<StatementForm>,
}

/// A form of question, and the statement that it becomes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatementForm {
    /// A pattern of the whole question, without its mark.
    pub form: String,
    /// The statement, with the groups of the pattern.
    pub becomes: String,
}

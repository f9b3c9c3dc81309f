//! The names of lists in `lang/*.toml`. A list that a file lacks, or that is not here, is an error.

use serde::Deserialize;
use strum::{IntoStaticStr, VariantArray};

/// The act or subject of a sentence, by its words. The features of the trained models hold these
/// names.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a variant is the list of its name in lang/")]
pub enum Cue {
    #[serde(rename = "self")]
    #[strum(serialize = "self")]
    Speaker,
    My,
    We,
    Kin,
    Pet,
    Health,
    LiveWork,
    BeRole,
    Naming,
    Have,
    Prefer,
    Change,
    Always,
    Standing,
    Address,
    AnswerStyle,
    ThisTurn,
    Task,
    Hypothetical,
    Quote,
    Fiction,
    NowState,
    Feeling,
    Thanks,
    Sarcasm,
    Question,
    Number,
    Date,
    MoneySize,
    Procedure,
    Secret,
    Injection,
    NoStore,
    World,
    Negation,
    Correct,
    Code,
}

/// The relation of a statement to an older one, by a word.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a variant is the list of its name in lang/")]
pub enum Mark {
    Turned,
    Now,
    More,
    Correct,
    News,
    Amount,
    Unreal,
    Request,
    Both,
    Not,
    Dislike,
    Within,
    Event,
    Several,
}

/// An attribute that a person has one of at a time.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[expect(missing_docs, reason = "a variant is the list of its name in lang/")]
pub enum Slot {
    Home,
    Employer,
    Diet,
    Name,
    Age,
    Phone,
    Email,
    Weight,
    Married,
}

/// Somebody or some animal that a statement may be about.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Person {
    Mother,
    Father,
    Parents,
    Wife,
    Husband,
    Partner,
    Son,
    Daughter,
    Child,
    Brother,
    Sister,
    InLaw,
    Grandmother,
    Grandfather,
    Uncle,
    Aunt,
    Cousin,
    Nephew,
    Friend,
    Colleague,
    Boss,
    Neighbour,
    Flatmate,
    Landlord,
    Coach,
    Dog,
    Cat,
    Horse,
}

/// A day of the week, a month, or a part of a day.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Day {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
    Weekend,
    January,
    February,
    March,
    April,
    May,
    June,
    July,
    August,
    September,
    October,
    November,
    December,
    Mornings,
    Evenings,
}

/// The meaning of words beside a date.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum DateWord {
    /// Something begins then, and goes on: "since 4 May".
    Begins,
    /// It comes again: "my birthday is on 4 May".
    Repeats,
}

/// A list of patterns of commands.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum List {
    Stem,
    Lead,
    Ask,
    Remember,
    RememberBare,
    RememberMine,
    RememberRule,
    Rule,
    RememberBefore,
    ForgetBefore,
    ForgetFact,
    ForgetMine,
    ForgetTopic,
    ForgetMyTopic,
    Mine,
    Subject,
    Named,
    Talk,
    Clause,
    Thing,
    Task,
    AndThen,
    Tail,
    Aside,
}

/// A list of words and patterns around preferences.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum PreferenceWords {
    /// Words that may stand anywhere: "please".
    Please,
    /// Words that may stand before and after a preference: "please", "hi".
    Filler,
    /// Words that make it hold from now on.
    Lasting,
    /// Words at the beginning of a clause that make it hold from now on: "I prefer".
    Prefer,
    /// Words that tie it to this answer or to an occasion, so that it is none.
    Bound,
    /// Words for the answer at hand: with one of them it must say that it lasts.
    AtHand,
    /// Words that part two clauses.
    And,
    /// Verbs of answering.
    Answer,
    /// Nouns for answers.
    Answers,
    /// Imperatives of wishes.
    Do,
    /// Words with which a name does not begin.
    NoName,
    /// Wishes with a topic.
    Wish,
}

/// A value of a preference, with the patterns that state it: a key, and a value unless the pattern holds it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum PreferenceValue {
    Name,
    Language,
    AddressFormal,
    AddressInformal,
    LengthShort,
    LengthDetailed,
    FormatBullets,
    FormatProse,
    FormatTables,
    FormatCodeFirst,
    FormatNoEmoji,
    UnitsMetric,
    UnitsImperial,
    TonePlain,
    ToneFriendly,
    ToneFormal,
    ToneNoSmallTalk,
    ExpertiseBeginner,
    ExpertiseExpert,
}

/// Texts that must not become a memory, or are not said of the user.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Rule {
    Secret,
    Injection,
    NoStore,
    Hypothetical,
    Quoted,
    Fiction,
}

/// A list of patterns of what surrounds pasted text.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum Pasted {
    /// The title of retrieved passages: "Context:".
    ContextTitle,
    /// Words that announce them in a prompt: "Use the following passages".
    Announced,
    /// The title of the question that follows them.
    QuestionTitle,
    MailHeader,
    /// The line that introduces a forwarded mail.
    Forwarded,
    /// The line that introduces a quoted mail.
    Wrote,
}

/// A list of words or phrases around names.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum NameWords {
    NounsAreCapital,
    OnlyNamesAreCapital,
    My,
    A,
    Person,
    People,
    Pet,
    Pets,
    Called,
    Is,
    OwnName,
    Title,
    LivesIn,
    ComesFrom,
    WorksAt,
    Something,
    And,
    Article,
    Within,
    OnlyBeside,
    NotNames,
}

/// A way to name a time relative to the day on which it is said: patterns, with places for a number (`{n}`), a weekday
/// (`{weekday}`), a season (`{season}`) or a day of a month (`{day}`).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub(crate) enum TimePhrase {
    DayBeforeYesterday,
    Yesterday,
    Today,
    Tomorrow,
    DayAfterTomorrow,
    InThreeDays,
    LastWeek,
    ThisWeek,
    NextWeek,
    LastWeekend,
    ThisWeekend,
    LastMonth,
    ThisMonth,
    NextMonth,
    YearBeforeLast,
    LastYear,
    ThisYear,
    NextYear,
    /// The last one before today.
    LastWeekday,
    /// In a statement the first one after today, in a question the last one until today.
    ThisWeekday,
    /// The first one after today.
    NextWeekday,
    /// The one in the week before this.
    WeekdayOfLastWeek,
    WeekdayOfThisWeek,
    WeekdayOfNextWeek,
    /// The last one that is over.
    LastSeason,
    /// The last one that has begun.
    ThisSeason,
    SeasonOfYearBeforeLast,
    SeasonOfLastYear,
    SeasonOfThisYear,
    DaysAgo,
    WeeksAgo,
    MonthsAgo,
    YearsAgo,
    DaysAhead,
    WeeksAhead,
    MonthsAhead,
    YearsAhead,
    /// A day of the month that is nearest: "on the 26th".
    DayOfMonth,
    /// No time, though a part of it looks like one: "Guten Morgen".
    NoTime,
}

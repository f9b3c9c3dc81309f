//! From a sentence to the preferences of its clauses, or to the topic of a wish.

use regex::{Captures, Regex};

use crate::{
    command::asks_to_do,
    names::is_written_as_name,
    normal::{is_cjk, one_line},
    preferences::{
        AnswerLanguage, Preference, PreferenceKey, UserName,
        patterns::{PATTERNS, Patterns},
    },
    sentences::tells,
};

/// Marks between clauses in every language.
const MARKS: [char; 8] = [',', ';', '，', '；', '、', '—', '–', '।'];

/// The longest sentence that is read, in bytes: a longer one says more than a preference.
const MAX_BYTES: usize = 300;

/// The most clauses that are read.
const MOST: usize = 8;

/// The longest topic, in characters: a longer one is a clause.
const MAX_TOPIC_CHARS: usize = 60;

/// The clauses of a sentence, in the language that knows most of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clauses {
    read: Vec<Read>,
    /// How many clauses state nothing.
    unread: usize,
    /// How many of these may set a task, which makes the others about its answer.
    tasks: usize,
}

/// A preference, and how sure it is that it holds in every conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Read {
    preference: Preference,
    strength: Strength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// It holds whatever is said beside it: a name, or with "from now on".
    Lasting,
    /// It holds where the message says nothing else; beside a task it is about this answer.
    Alone,
}

impl Clauses {
    /// The clauses of a sentence in the user's words. `lasts`: it is known to hold from now on.
    pub(super) fn of(sentence: &str, lasts: bool) -> Self {
        let Some(text) = readable(sentence) else { return Self::default() };
        let read = PATTERNS.iter().map(|patterns| match asks(sentence) {
            // "Could you always be brief?" is a request for more than this answer, "could you be brief?" may be none.
            true if !patterns.says_lasting(&text) => Self::default(),
            _ => patterns.read(&text, lasts),
        });
        // The first of two languages that know as much.
        read.reduce(|best, next| if next.read.len() > best.read.len() { next } else { best })
            .unwrap_or_default()
    }

    /// Whether the sentence states preferences and nothing else.
    pub(super) fn is_read_whole(&self) -> bool {
        !self.read.is_empty() && self.unread == 0
    }

    /// Whether a clause states no preference and may set a task.
    pub(super) fn may_set_task(&self) -> bool {
        self.read.is_empty() || self.tasks > 0
    }

    /// The preferences that hold in every conversation. `alone`: the message states nothing else.
    pub(super) fn preferences(&self, alone: bool) -> Vec<Preference> {
        let holds = |read: &&Read| read.strength == Strength::Lasting || (alone && self.tasks == 0);
        self.read.iter().filter(holds).map(|read| read.preference.clone()).collect()
    }
}

/// The topic of a wish.
pub(super) fn wish_topic(sentence: &str) -> Option<String> {
    let text = readable(sentence).filter(|_| !asks(sentence))?;
    PATTERNS.iter().find_map(|patterns| {
        let text = without(&patterns.please, &text);
        let text = patterns.without_filler(&text);
        let found = patterns.wishes.iter().find_map(|wish| wish.captures(text))?;
        let topic = trimmed(found.name("topic")?.as_str());
        // "write this as a table" is about the text at hand.
        let no_topic = [&patterns.at_hand, &patterns.no_name, &patterns.lasting];
        let begins = |it: &Regex| it.find(topic).is_some_and(|it| it.start() == 0);
        let named = !no_topic.into_iter().flatten().any(begins);
        let fits = (2..=MAX_TOPIC_CHARS).contains(&topic.chars().count());
        (named && fits).then(|| topic.to_owned())
    })
}

/// Whether a sentence speaks of answers, and of all of them.
pub(super) fn asks_for_every_answer(sentence: &str) -> bool {
    let Some(text) = readable(sentence) else { return false };
    if asks(sentence) && !asks_to_do(&text) {
        return false;
    }
    let answers = |of: &Patterns| of.answer.as_ref().is_some_and(|it| it.is_match(&text));
    PATTERNS.iter().any(|patterns| patterns.says_lasting(&text) && answers(patterns))
}

/// A sentence as patterns see it; `None` for one that cannot state a preference: a long one, a heading, and a task with
/// what it is about ("answer in French: what is …").
fn readable(sentence: &str) -> Option<String> {
    if sentence.len() > MAX_BYTES {
        return None;
    }
    let text = one_line(sentence).replace(['’', '‘', '`'], "'");
    let text = text.trim_start_matches(['-', '*', '•', ' ']);
    let heading = text.starts_with(['#', '[', '<', '>']);
    let task = text.trim_end_matches([':', '：']).contains([':', '：']);
    (!heading && !task).then(|| trimmed(text).to_owned())
}

fn asks(sentence: &str) -> bool {
    sentence.contains(['?', '？', '؟', '¿'])
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| !c.is_alphanumeric() && !is_mark(c))
}

/// A vowel sign of Hindi, which ends a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{94f}')
}

impl Patterns {
    /// Whether words say that something holds from now on, or always.
    fn says_lasting(&self, words: &str) -> bool {
        self.lasting.as_ref().is_some_and(|it| it.is_match(words))
    }

    fn read(&self, sentence: &str, lasts: bool) -> Clauses {
        let is_in = |pattern: &Option<Regex>, text: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
        };
        let lasts = lasts || self.says_lasting(sentence);
        let text = without(&self.lasting, &without(&self.please, sentence));
        if is_in(&self.bound, &text) {
            return Clauses::default();
        }
        let mut found = Clauses::default();
        for clause in self.clauses(&text) {
            let prefers = is_in(&self.prefer, clause);
            let bare = match &self.prefer {
                Some(prefer) if prefers => self.without_filler(trimmed(after(prefer, clause))),
                _ => clause,
            };
            let Some(preference) = self.stated(clause).or_else(|| self.stated(bare)) else {
                found.unread += 1;
                // "use metric units with me, I never learnt inches" gives a reason.
                found.tasks += usize::from(!tells(clause));
                continue;
            };
            let lasts = lasts || prefers;
            // "keep it short" and "answer in French" are about the answer at hand.
            let at_hand = is_in(&self.at_hand, bare) || preference.key() == PreferenceKey::Language;
            if !lasts && at_hand {
                found.unread += 1;
                found.tasks += 1;
                continue;
            }
            let strength = match lasts || is_about_the_user(preference.key()) {
                true => Strength::Lasting,
                false => Strength::Alone,
            };
            if !found.read.iter().any(|read| read.preference == preference) {
                found.read.push(Read { preference, strength });
            }
        }
        found
    }

    /// The whole text where it states something, else its clauses.
    fn clauses<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let whole = self.without_filler(text);
        if self.stated(whole).is_some() {
            return vec![whole];
        }
        let mut clauses: Vec<&str> = text.split(MARKS).collect();
        if let Some(between) = &self.between {
            // "and" also stands within a clause.
            let parts = |clause: &'t str| {
                let whole = self.without_filler(trimmed(clause));
                match self.stated(whole) {
                    Some(_) => vec![clause],
                    None => between.split(clause).collect(),
                }
            };
            clauses = clauses.into_iter().flat_map(parts).collect();
        }
        clauses.truncate(MOST);
        let clauses = clauses.into_iter().map(|clause| self.without_filler(clause));
        clauses.filter(|clause| !clause.is_empty()).collect()
    }

    /// The text without what says nothing at its ends: "please", "hi", "thanks".
    fn without_filler<'t>(&self, text: &'t str) -> &'t str {
        let mut text = trimmed(text);
        let Some(filler) = &self.filler else { return text };
        while let Some(found) = filler.find(text) {
            let rest =
                if found.start() == 0 { &text[found.end()..] } else { &text[..found.start()] };
            let rest = trimmed(rest);
            if rest.len() == text.len() {
                break;
            }
            text = rest;
        }
        text
    }

    /// The preference that a clause states.
    fn stated(&self, clause: &str) -> Option<Preference> {
        let matching = self.values.matches(clause);
        matching.iter().filter_map(|at| self.value.get(at)).find_map(|(value, pattern)| {
            let name: &'static str = value.into();
            let captured = |group| {
                pattern.captures(clause).and_then(|found| found.name(group)).map(|it| it.as_str())
            };
            match name.split_once('_') {
                Some((key, value)) => Preference::new(key.parse().ok()?, value).ok(),
                None if name == PreferenceKey::Name.name() => {
                    self.name(captured("name")?).map(Preference::Name)
                }
                None => self.language(captured("language")?).map(Preference::Language),
            }
        })
    }

    fn name(&self, text: &str) -> Option<UserName> {
        let text = self.without_filler(text);
        let is_in = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|it| it.is_match(text));
        if is_in(&self.no_name) || is_in(&self.between) || is_in(&self.asks) {
            return None;
        }
        // "Dr. Bell in letters", and the blot in the place of a quotation.
        let small =
            |word: &str| word.starts_with(char::is_lowercase) && is_in_word(&self.no_name, word);
        if text.split(' ').any(small) || text.contains("xxx") {
            return None;
        }
        let capital = text.chars().any(char::is_uppercase);
        // Chinese and Japanese put no space between words.
        let unspaced = text.chars().filter(|c| is_cjk(*c)).count();
        let fits = (capital || unspaced <= 10) && is_written_as_name(text);
        fits.then(|| UserName::new(text)).flatten()
    }

    fn language(&self, text: &str) -> Option<AnswerLanguage> {
        self.languages.iter().find(|(_, names)| names.is_match(text)).map(|(of, _)| *of)
    }
}

/// Whether a preference is about the user, and not about answers: it holds whatever is asked beside it.
fn is_about_the_user(key: PreferenceKey) -> bool {
    matches!(key, PreferenceKey::Name | PreferenceKey::Address | PreferenceKey::Expertise)
}

fn is_in_word(pattern: &Option<Regex>, word: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.find(word).is_some_and(|it| it.len() == word.len()))
}

/// The text without the words of a pattern. A space takes their place, except in Chinese and Japanese, which put no
/// space between words: "以后回答请简短" is "回答简短".
fn without(pattern: &Option<Regex>, text: &str) -> String {
    let Some(pattern) = pattern else { return text.to_owned() };
    let gap = |found: &Captures<'_>| {
        let place = found.get_match().range();
        let (before, after) =
            (text[..place.start].chars().next_back(), text[place.end..].chars().next());
        if before.is_some_and(is_cjk) && after.is_some_and(is_cjk) { "" } else { " " }
    };
    one_line(&pattern.replace_all(text, gap))
}

/// The text after a match at the beginning.
fn after<'t>(pattern: &Regex, text: &'t str) -> &'t str {
    pattern.find(text).map_or(text, |found| &text[found.end()..])
}

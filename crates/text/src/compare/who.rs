//! Whose matter a sentence tells: the user's, or that of somebody in `people` or with a name.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use crate::{
    cues::Phrases,
    lang::{self, file::Subject, keys::Person},
    normal::{plain, tokens},
};

static PEOPLE: LazyLock<Phrases<Person>> =
    LazyLock::new(|| Phrases::of(lang::files().flat_map(|file| file.people.entries())));

/// A list of words.
type Words = LazyLock<HashSet<&'static str>>;

/// The user, as the one who does what a sentence tells.
static USER: Words = LazyLock::new(|| words(|lists| &lists.user));
/// Somebody else, as the one who does what a sentence tells. "Sie", "vous" and the like may mean others besides, and do
/// not count.
static OTHERS: Words = LazyLock::new(|| words(|lists| &lists.others));
/// The user, as somebody to whom another does something.
static TO_THE_USER: Words = LazyLock::new(|| words(|lists| &lists.to_the_user));
/// "And I".
static AND_THE_USER: Words = LazyLock::new(|| words(|lists| &lists.and_the_user));
/// Verbs behind a name that a sentence begins with.
static VERBS: Words = LazyLock::new(|| words(|lists| &lists.verbs));
/// Beginnings that are no names.
static NO_NAMES: Words = LazyLock::new(|| words(|lists| &lists.no_names));

fn words(list: fn(&'static Subject) -> &'static [String]) -> HashSet<&'static str> {
    lang::all(|file| list(&file.subject)).collect()
}

/// How far from its beginning a sentence names whose matter it tells.
const SUBJECT_WORDS: usize = 4;

/// Whose matter it is, and who else is in it.
#[derive(Clone, Debug)]
pub struct Who {
    /// Whose matter it is, where that is somebody of `people`.
    pub whose: BTreeSet<Person>,
    /// Everybody of `people` in it.
    people: BTreeSet<Person>,
    /// The name of that person, where it stands behind: "my son Tom".
    namesake: Option<String>,
    /// The name that it begins with, where it tells of a third person or thing.
    named: Option<String>,
    /// The user is who it begins with.
    pub by_the_user: bool,
    /// It begins with "he", "she" or "they": somebody whom it does not name.
    by_another: bool,
}

impl Who {
    /// Reads it from a text, given also in one form and as words.
    pub fn of(text: &str, plain: &str, spoken: &[String]) -> Self {
        let first = &spoken[..spoken.len().min(SUBJECT_WORDS)];
        let by_the_user = begins_with_the_user(first);
        let mut whose = PEOPLE.find(beginning(plain), first).anywhere;
        let is_the_users = by_the_user || tells_both(spoken);
        if is_the_users || (whose.iter().all(|who| ROLES.contains(who)) && is_a_role(spoken)) {
            whose.clear();
        }
        Self {
            namesake: namesake(text, &whose),
            named: named(text),
            people: PEOPLE.find(plain, spoken).anywhere,
            whose,
            by_the_user,
            by_another: is_by_another(spoken),
        }
    }

    /// Whether both tell of the same person: the user, or somebody whom both name. `texts` are both
    /// in one form.
    pub fn may_be(&self, other: &Self, texts: [&str; 2]) -> bool {
        let [own, others] = texts;
        // Whom "he" means, the sentence alone does not tell.
        !self.by_another
            && !other.by_another
            && self.whose.is_subset(&other.people)
            && other.whose.is_subset(&self.people)
            && self.named.as_ref().is_none_or(|name| others.contains(name.as_str()))
            && other.named.as_ref().is_none_or(|name| own.contains(name.as_str()))
            && self.has_the_namesake_of(other)
    }

    /// Whether it tells of "he", "she" or "they".
    pub fn is_somebody_else(&self) -> bool {
        self.by_another
    }

    /// Whether it is the matter of somebody of `people` whom the other does not mention.
    pub fn tells_of_another_than(&self, other: &Self) -> bool {
        !self.whose.is_subset(&other.people)
    }

    /// "My son Tom", "my son Max": of those one may have several, each has his name.
    fn has_the_namesake_of(&self, other: &Self) -> bool {
        if self.whose.is_empty() || other.whose.is_empty() {
            return true;
        }
        match (&self.namesake, &other.namesake) {
            (Some(own), Some(others)) => own == others,
            _ => true,
        }
    }
}

/// Whom one has one of: "my boss is Ada" tells of the user, who is asked for it.
const ROLES: [Person; 3] = [Person::Boss, Person::Landlord, Person::Coach];

/// "They let me swap" tells of the user, too.
fn is_by_another(spoken: &[String]) -> bool {
    spoken.first().is_some_and(|word| OTHERS.contains(word.as_str()))
        && !spoken.iter().any(|word| TO_THE_USER.contains(word.as_str()))
}

/// "My boss is Ada" and not "my boss's number is …".
fn is_a_role(spoken: &[String]) -> bool {
    spoken.windows(2).any(|pair| {
        let role = PEOPLE.find(&pair[0], &pair[..1]).anywhere;
        pair[1] == "is" && !role.is_empty()
    })
}

fn begins_with_the_user(first: &[String]) -> bool {
    first.first().is_some_and(|word| USER.contains(word.as_str()))
}

/// "My wife and I": it is the user's matter too.
fn tells_both(spoken: &[String]) -> bool {
    let first = &spoken[..spoken.len().min(SUBJECT_WORDS + 2)];
    first.windows(2).any(|pair| AND_THE_USER.contains(pair.join(" ").as_str()))
}

/// The first characters, for scripts that do not part words.
fn beginning(plain: &str) -> &str {
    let end = plain.char_indices().nth(SUBJECT_WORDS + 1).map_or(plain.len(), |(at, _)| at);
    &plain[..end]
}

/// The capitalised word behind the one that tells whose matter it is.
fn namesake(text: &str, whose: &BTreeSet<Person>) -> Option<String> {
    if whose.is_empty() {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().take(SUBJECT_WORDS + 1).collect();
    let pair = words.windows(2).find(|pair| {
        let plain = plain(pair[0]);
        !PEOPLE.find(&plain, &tokens(&plain)).anywhere.is_empty()
            && pair[1].starts_with(char::is_uppercase)
    })?;
    Some(pair[1].trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
}

fn named(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let first = words.next()?.trim_matches(|c: char| !c.is_alphanumeric());
    let second = words.next()?.to_lowercase().replace(['’', '\''], "");
    let second = second.trim_matches(|c: char| !c.is_alphanumeric());
    let name = first.to_lowercase();
    let (name, rest) = name.split_once(['\'', '’']).unwrap_or((&name, ""));
    let possessive = rest == "s";
    let is_name = first.chars().next().is_some_and(char::is_uppercase)
        && !NO_NAMES.contains(name)
        && (VERBS.contains(second) || possessive);
    is_name.then(|| name.to_owned())
}

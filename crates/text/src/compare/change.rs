//! Whether a statement holds in the place of an older one: the same attribute of the same thing,
//! with another value.
//!
//! The cosine alone cannot tell: "I live in Paris" and "we moved to Lyon" are far apart, "my
//! brother's budget" and "my budget" are near. The questions are whose matter it is, whether both
//! are about one thing, whether a value differs, and what tells of a change.

use std::{collections::HashSet, sync::LazyLock};

use crate::{
    compare::statement::Statement,
    lang::{
        self,
        keys::{Mark, Slot},
    },
};

/// Cosines between statements about one thing, in a language that the embedder knows: measured on
/// the pairs of testdata/reconcile and on all pairs of sentences in testdata/scenarios. Few unrelated
/// ones are above the first.
const RELATED: f32 = 0.35;
const CLOSE: f32 = 0.42;
const NEAR: f32 = 0.5;
const VERY_NEAR: f32 = 0.6;

/// In other languages, and between them, a cosine below this tells that nothing is shared; one
/// above tells nothing.
const RELATED_UNTRUSTED: f32 = 0.4;

/// How nearly all words must be the same for a frame with another value in it.
const FRAME: f32 = 0.8;

/// Whether `new` holds in the place of `old`.
pub(super) fn replaces(new: &Statement, old: &Statement, cosine: Option<f32>) -> bool {
    let turned = new.says(Mark::Turned) || new.says(Mark::Correct);
    let tells_nothing_of_now =
        new.says(Mark::Unreal) || old.says(Mark::Unreal) || (new.says(Mark::Request) && !turned);
    if !new.is_about_the_person_of(old)
        || tells_nothing_of_now
        || new.says(Mark::More)
        || tells_more_besides(new, old)
        || new.words == old.words
    {
        return false;
    }
    let near = Nearness::of(new, old, cosine);
    let other_value = new.values.differ_from(&old.values);
    let same_slot = new.slots.intersection(&old.slots).next().is_some();
    let now = new.says(Mark::Now);
    let told = if same_slot {
        in_one_slot(new, old, turned || now)
    } else if turned {
        (near.is_related() && other_value)
            || near.is_close()
            || (near.may_be_related() && new.values.numbers_differ_from(&old.values))
    } else if now {
        (near.is_related() && other_value && !old.says(Mark::Event))
            || (near.is_very_close() && (other_value || !new.says(Mark::Event)))
    } else {
        false
    };
    told || same_attribute(new, old)
        || near.is_of_one_matter() && flips(new, old, near.shared)
        || same_frame(new, old) && other_value
}

/// "I live in Paris and I'm vegetarian" is not over with a move.
fn tells_more_besides(new: &Statement, old: &Statement) -> bool {
    (old.says(Mark::Both) && !new.says(Mark::Both)) || old.slots.difference(&new.slots).count() > 1
}

/// How near two statements are to one another in what they are about.
struct Nearness {
    /// Cosine, where the embedder knows the language of both.
    trusted: Option<f32>,
    /// Cosine, whatever it means.
    cosine: f32,
    /// Words of the topic that both have.
    shared: usize,
    /// Those among them that are no names: two statements may name the same people and tell different
    /// things of them.
    things: usize,
}

impl Nearness {
    fn of(new: &Statement, old: &Statement, cosine: Option<f32>) -> Self {
        let trusted = cosine.filter(|_| new.trusted && old.trusted);
        Self {
            trusted,
            cosine: cosine.unwrap_or(0.0),
            shared: new.shared(old),
            things: new.shared_things(old),
        }
    }

    fn may_be_related(&self) -> bool {
        match self.trusted {
            Some(cosine) => cosine >= RELATED,
            None => self.shared >= 1 && self.cosine >= RELATED_UNTRUSTED,
        }
    }

    /// One thing may be meant, if another value shows it too.
    fn is_related(&self) -> bool {
        match self.trusted {
            Some(cosine) => cosine >= NEAR || (cosine >= RELATED && self.shared >= 1),
            None => self.shared >= 1 && self.cosine >= RELATED_UNTRUSTED,
        }
    }

    /// One thing is meant, if something is said to have ended or become another.
    fn is_close(&self) -> bool {
        match self.trusted {
            Some(cosine) => cosine >= VERY_NEAR || (cosine >= CLOSE && self.shared >= 1),
            None => self.shared >= 1 && self.cosine >= RELATED_UNTRUSTED,
        }
    }

    /// Nearly the same is said.
    fn is_of_one_matter(&self) -> bool {
        self.cosine >= if self.trusted.is_some() { NEAR } else { VERY_NEAR }
    }

    /// One thing is meant.
    fn is_very_close(&self) -> bool {
        match self.trusted {
            Some(cosine) => {
                (cosine >= VERY_NEAR && (self.things >= 1 || self.shared == 0))
                    || (cosine >= NEAR && self.things >= 2)
            }
            None => self.shared >= 2 && self.cosine >= RELATED_UNTRUSTED,
        }
    }
}

/// Two statements on what one has only one of. Without a word of change they must not hold both:
/// "I live in Lyon" and "I live in a flat" do.
fn in_one_slot(new: &Statement, old: &Statement, told: bool) -> bool {
    let diet = new.slots.contains(&Slot::Diet);
    if new.is_negative() && !told {
        return false;
    }
    if told {
        return new.values.differ_from(&old.values)
            || new.topic.difference(&old.topic).next().is_some()
            || new.is_negative() != old.is_negative()
            || new.says(Mark::Turned);
    }
    !diet && new.values.clash_with(&old.values)
}

/// "My dentist is Dr Abara", "my dentist is Dr Brandt".
fn same_attribute(new: &Statement, old: &Statement) -> bool {
    match (attribute(new), attribute(old)) {
        (Some(one), Some(other)) => {
            one.name == other.name && one.value != other.value && !new.says(Mark::Several)
        }
        _ => false,
    }
}

/// "My", before an attribute.
static MY: LazyLock<HashSet<&str>> = LazyLock::new(|| lang::all(|file| &file.subject.my).collect());

/// Words between an attribute and its value.
static IS: LazyLock<HashSet<&str>> = LazyLock::new(|| lang::all(|file| &file.subject.is).collect());

/// The value that a statement gives something of the user's.
pub(super) struct Attribute<'a> {
    name: &'a [String],
    value: &'a [String],
}

/// The most words of an attribute's name: "favourite kind of music".
const NAME_WORDS: usize = 4;

/// The value that a statement gives something of the user's; `None` where it says no such thing.
pub(super) fn attribute(statement: &Statement) -> Option<Attribute<'_>> {
    let words = &statement.words;
    let my = words.iter().take(2).position(|word| MY.contains(word.as_str()))?;
    let is = (my + 2..=my + 1 + NAME_WORDS)
        .find(|at| words.get(*at).is_some_and(|word| IS.contains(word.as_str())))?;
    let value = words.get(is + 1..).filter(|value| !value.is_empty() && value.len() <= 6)?;
    Some(Attribute { name: &words[my + 1..is], value })
}

/// "I drink coffee", "I don't drink coffee": the same, and not so. A statement that holds in some
/// cases only takes nothing back.
fn flips(new: &Statement, old: &Statement, shared: usize) -> bool {
    let smaller = new.topic.len().min(old.topic.len());
    let odd = new.topic.symmetric_difference(&old.topic).count();
    new.is_negative() != old.is_negative()
        && smaller > 0
        && shared >= smaller
        && odd <= 1
        && !new.values.clash_with(&old.values)
        && !old.says(Mark::Within)
        && !new.says(Mark::Within)
        && !new.says(Mark::Event)
        && new.values.names.is_subset(&old.values.names)
}

/// Equal except for values, and not a recurring event.
fn same_frame(new: &Statement, old: &Statement) -> bool {
    let numbers = new.values.numbers != old.values.numbers
        || new.values.days != old.values.days
        || new.values.months != old.values.months;
    // "I swim on Mondays, I swim on Thursdays": what one does oneself, one does more than once.
    let routine = new.who.by_the_user && new.values.days != old.values.days;
    if !numbers
        || routine
        || new.says(Mark::Event)
        || new.says(Mark::Several)
        || new.values.names != old.values.names
    {
        return false;
    }
    let frame = |statement: &Statement| -> std::collections::BTreeSet<String> {
        let held = statement.words.iter().filter(|word| !word.chars().any(char::is_numeric));
        held.cloned().collect()
    };
    let (a, b) = (frame(new), frame(old));
    let all = a.union(&b).count();
    let other = new.values.days != old.values.days || new.values.months != old.values.months;
    let days = usize::from(other) * 2;
    let shared = a.intersection(&b).count() + days;
    !new.topic.is_empty() && new.topic == old.topic && shared as f32 >= FRAME * all as f32
}

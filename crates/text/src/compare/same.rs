//! Whether two statements say the same, and the result of comparing them.

use crate::{compare::statement::Statement, lang::keys::Mark};

/// How a newer statement stands to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It says the same, perhaps in other words.
    Same,
    /// It says the same, and more.
    More,
    /// It holds in the other's place.
    Replaces,
    /// They have nothing to do with one another, or hold both.
    Beside,
}

/// Cosine above which two statements of a language that the embedder knows say the same, where no
/// value differs; the main design's figure.
const SAME: f32 = 0.9;

/// The threshold below it: the less is wanted the more of the topic both name: measured on the pairs of
/// testdata/reconcile.
const SHARED: [(f32, f32); 2] = [(0.78, 0.5), (0.66, 0.66)];

/// The threshold where all words of the older one stand in the newer.
const CONTAINED: f32 = 0.5;

/// The threshold where each has words of its own: what only one of them tells would be lost.
const EACH_TELLS_MORE: f32 = 0.85;

/// In other languages cosines tell little: so much of the topic must be in both.
const SHARED_UNTRUSTED: f32 = 0.75;
const COSINE_UNTRUSTED: f32 = 0.6;

pub(super) fn between(new: &Statement, old: &Statement, cosine: Option<f32>) -> Verdict {
    if new.has_the_words_of(old) {
        return Verdict::Same;
    }
    if !new.is_about_the_person_of(old)
        || new.is_negative() != old.is_negative()
        || new.values.clash_with(&old.values)
        || new.says(Mark::Turned) != old.says(Mark::Turned)
        || new.says(Mark::More) != old.says(Mark::More)
        || new.says(Mark::Unreal) != old.says(Mark::Unreal)
        || swaps_one_word(new, old)
    {
        return Verdict::Beside;
    }
    let share = covered(new, old);
    let each_tells_more = new.tells_more_than(old) && old.tells_more_than(new);
    if each_tells_more && cosine.is_none_or(|cosine| cosine < EACH_TELLS_MORE) {
        return Verdict::Beside;
    }
    let alike = match cosine {
        Some(cosine) if new.trusted && old.trusted => {
            (cosine > SAME && (share > 0.0 || new.topic.is_empty()))
                || (cosine >= CONTAINED && share >= 1.0 && contains(new, old))
                || SHARED.iter().any(|(least, shared)| cosine >= *least && share >= *shared)
        }
        Some(cosine) => cosine >= COSINE_UNTRUSTED && share >= SHARED_UNTRUSTED,
        None => share >= 1.0 && new.topic.len() == old.topic.len() && !new.topic.is_empty(),
    };
    match alike {
        false => Verdict::Beside,
        true if adds(new, old) => Verdict::More,
        true => Verdict::Same,
    }
}

fn contains(new: &Statement, old: &Statement) -> bool {
    old.words.iter().all(|word| new.words.contains(word))
}

/// Which part of the smaller topic both have, 0 to 1.
fn covered(new: &Statement, old: &Statement) -> f32 {
    let names = |statement: &Statement| statement.topic.len();
    let smaller = names(new).min(names(old));
    if smaller == 0 {
        return 0.0;
    }
    (new.shared(old) as f32 / smaller as f32).min(1.0)
}

/// Whether the new one tells all of the old one, and more.
fn adds(new: &Statement, old: &Statement) -> bool {
    let values = new.values.holds_more_than(&old.values);
    let topics = old.topic.is_subset(&new.topic) && new.topic.len() > old.topic.len();
    (values || topics) && old.topic.difference(&new.topic).count() <= 1
}

/// "I like red wine", "I like white wine": one word stands where another did.
fn swaps_one_word(new: &Statement, old: &Statement) -> bool {
    if new.words.len() != old.words.len() {
        return false;
    }
    let mut pairs = new.words.iter().zip(&old.words).filter(|(a, b)| a != b);
    match (pairs.next(), pairs.next()) {
        (Some((a, b)), None) => new.topic != old.topic && a.len().min(b.len()) > 1,
        _ => false,
    }
}

//! What shows that a message tells the new state of what an older sentence told: the signs that a
//! small trained model weighs (`weights`). `change` knows when two sentences show it for sure; what
//! people write of a change is often spread over a message: "our hall's been sold. We're at the old
//! creamery from now on, Wednesdays".

use super::{statement::Statement, weights};

/// A later message beside one older sentence.
#[derive(Clone, Copy, Debug)]
pub(in crate::capture::reconcile) struct Pair<'a> {
    /// The whole message.
    pub(in crate::capture::reconcile) message: &'a Statement,
    /// Its sentence that is nearest to the older one.
    pub(in crate::capture::reconcile) nearest: &'a Statement,
    /// The older sentence.
    pub(in crate::capture::reconcile) old: &'a Statement,
    /// The best cosine of the older sentence with the message and with one of its sentences.
    pub(in crate::capture::reconcile) cosine: f32,
    /// How many other older sentences that are not excluded are nearer to the message.
    pub(in crate::capture::reconcile) rank: usize,
}

/// Cosines of what has nothing to do with one another, where the embedder knows the language and
/// where it does not; see `change`.
const UNRELATED: f32 = 0.3;
const UNRELATED_UNTRUSTED: f32 = 0.5;

/// How many signs there are.
pub(in crate::capture::reconcile) const SIGNS: usize = 40;

impl Pair<'_> {
    /// Whether rules exclude it: without a word of change, with a wish or a request, with one thing more
    /// or several of a kind, or with somebody in the one whom the other does not mention, "she" included;
    /// and without a shared word in another script, where the cosines of unrelated sentences are high.
    pub(in crate::capture::reconcile) fn is_excluded(&self) -> bool {
        let Self { message, nearest, old, .. } = self;
        !message.tells_of_change()
            || [message, old].iter().any(|said| said.says("unreal"))
            || message.says("request")
            || message.says("more")
            || message.says("several")
            || old.says("both")
            || nearest.who.is_of_another_than(&old.plain)
            || nearest.who.tells_of_another_than(&old.who)
            || old.who.tells_of_another_than(&message.who)
            || (message.is_in_another_script() && message.shared(old) == 0)
    }

    /// How likely the older sentence holds no longer, 0 to 1; 0 for what is excluded.
    pub(in crate::capture::reconcile) fn likelihood(&self) -> f32 {
        if self.is_excluded() {
            return 0.0;
        }
        let sum: f32 = self.signs().iter().zip(weights::WEIGHTS).map(|(a, b)| a * b).sum();
        1.0 / (1.0 + (-(sum + weights::BIAS)).exp())
    }

    /// The signs, each about 0 to 1. Their order is that of the weights.
    pub(in crate::capture::reconcile) fn signs(&self) -> [f32; SIGNS] {
        let Self { message, nearest, old, cosine, rank } = *self;
        let is = |holds: bool| f32::from(u8::from(holds));
        let says = |mark| is(message.says(mark));
        let (own, others) = (&message.values, &old.values);
        let numbers = own.numbers_differ_from(others);
        let days = own.days_differ_from(others);
        let names = own.names_differ_from(others);
        let differs = numbers || days || names;
        let changes = message.tells_of_change();
        let turned = message.says("turned") || message.says("news") || message.says("correct");
        let shared = message.shared(old);
        let things = message.shared_things(old);
        let trusted = message.trusted && old.trusted;
        let near = cosine - if trusted { UNRELATED } else { UNRELATED_UNTRUSTED };
        let slot = message.slots.intersection(&old.slots).next().is_some();
        let stranger = !nearest.is_about_the_person_of(old);
        [
            if trusted { near } else { 0.0 },
            if trusted { 0.0 } else { near },
            is(!trusted),
            shared.min(3) as f32 / 3.0,
            things.min(2) as f32 / 2.0,
            shared as f32 / old.topic.len().max(2) as f32,
            is(own.shares_with(others)),
            is(numbers),
            is(days),
            is(names),
            is(differs),
            is(others.are_none()),
            says("turned"),
            says("now"),
            says("correct"),
            says("news"),
            is(changes),
            is(changes && differs),
            is(turned && shared > 0),
            if changes { near } else { 0.0 },
            if differs { near } else { 0.0 },
            1.0 / (1.0 + rank as f32),
            is(stranger),
            is(!message.is_about_the_person_of(old)),
            says("unreal"),
            is(old.says("unreal")),
            says("request"),
            says("more"),
            is(old.says("both")),
            is(message.says("event") && !changes),
            is(old.says("event")),
            is(slot),
            is(slot && changes),
            (message.words.len().min(30) as f32 / 30.0) * near,
            is(nearest.tells_of_change()),
            is(nearest.tells_of_change() && shared > 0),
            is(message.says("amount") && old.says("amount")),
            is(nearest.who.is_somebody_else()),
            is(nearest.who.tells_of_another_than(&old.who)),
            is(old.who.tells_of_another_than(&message.who)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{super::ENOUGH, *};

    /// As if the older sentence were the nearest one, at this cosine.
    fn likelihood(old: &str, message: &str, cosine: f32) -> f32 {
        let (message, old) = (Statement::of(message), Statement::of(old));
        Pair { message: &message, nearest: &message, old: &old, cosine, rank: 0 }.likelihood()
    }

    #[test]
    fn another_value_and_a_word_of_change_make_it_likely_and_distance_less_so() {
        let old = "The team meeting is at nine on Mondays";
        let new = "Meetings on Mondays are cancelled! From now on the team meets on Thursday";
        assert!(likelihood(old, new, 0.7) >= ENOUGH);
        assert!(likelihood(old, new, 0.1) < likelihood(old, new, 0.4));
        assert!(likelihood(old, "The team meets Thursday's client for lunch", 0.7) < ENOUGH);
    }

    #[test]
    fn what_is_wished_asked_for_or_somebody_elses_puts_nothing_away() {
        let old = "I give Finnish lessons online, 30 euros an hour";
        for new in [
            "My friend gives Finnish lessons online for 25 euros now",
            "I might give Finnish lessons for 25 euros an hour from now on",
            "Can you help me change the Finnish lessons to 25 euros an hour now?",
            "I give Finnish lessons online, 25 euros an hour",
        ] {
            assert_eq!(likelihood(old, new, 0.9), 0.0, "{new}");
        }
        for (old, new) in [
            (
                "The team meeting is on Mondays",
                "We now also have a second team meeting on Thursday",
            ),
            ("My rent is 900 in Leeds", "She moved to Leeds, and her rent is 950 now"),
            ("My rent is 900 in Leeds", "Tom's rent in Leeds is 950 now"),
        ] {
            assert_eq!(likelihood(old, new, 0.6), 0.0, "{new}");
        }
        assert_eq!(likelihood("晚上失眠，凌晨一点还刷手机", "改成周三六点半去健身房", 0.8), 0.0);
    }
}

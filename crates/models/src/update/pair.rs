//! What shows that a message tells the new state of what an older sentence told: the features that a small trained
//! model weighs ([`UpdateModel`]). Rules know when two sentences show it for sure; what people write of a change is
//! often spread over a message: "our hall's been sold. We're at the old creamery from now on, Wednesdays".

use crate::{UpdateFeatures, UpdateModel, log_odds};
use memgate_text::compare::{Mark, Statement};

/// A later message beside one older sentence.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// The whole message.
    pub message: &'a Statement,
    /// Its sentence that is nearest to the older one.
    pub nearest: &'a Statement,
    /// The older sentence.
    pub old: &'a Statement,
    /// The best cosine of the older sentence with the message and with one of its sentences.
    pub cosine: f32,
    /// How many other older sentences that are not excluded are nearer to the message.
    pub rank: usize,
    /// How likely the message announces a change, see [`UpdateModel::announces`].
    pub announced: f32,
}

/// Cosines of what has nothing to do with one another, where the embedder knows the language and
/// where it does not; see `change`.
const UNRELATED: f32 = 0.3;
const UNRELATED_UNTRUSTED: f32 = 0.5;

impl Pair<'_> {
    /// Whether rules exclude it, because the model must not be trusted with it: one of both only wishes or supposes, or the
    /// message adds one thing more, or one of both tells of somebody whom the other does not mention.
    pub fn is_excluded(&self) -> bool {
        let Self { message, nearest, old, .. } = self;
        [message, old].iter().any(|said| said.says(Mark::Unreal))
            || message.says(Mark::More)
            || nearest.who.is_of_another_than(&old.plain)
            || nearest.who.tells_of_another_than(&old.who)
            || old.who.tells_of_another_than(&message.who)
    }

    /// How likely the older sentence holds no longer, 0 to 1; 0 for what is excluded, and where the message hardly
    /// announces anything.
    pub fn likelihood(&self, model: &UpdateModel) -> f32 {
        let may = !self.is_excluded() && model.may_outdate(self.announced);
        if may { model.likelihood(&self.features()) } else { 0.0 }
    }

    /// The features that the trained model weighs.
    pub fn features(&self) -> UpdateFeatures {
        let Self { message, nearest, old, cosine, rank, announced } = *self;
        let is = |holds: bool| f32::from(u8::from(holds));
        let says = |mark| is(message.says(mark));
        let (own, others) = (&message.values, &old.values);
        let numbers = own.numbers_differ_from(others);
        let days = own.days_differ_from(others);
        let names = own.names_differ_from(others);
        let differs = numbers || days || names;
        let changes = message.tells_of_change();
        let turned =
            message.says(Mark::Turned) || message.says(Mark::News) || message.says(Mark::Correct);
        let shared = message.shared(old);
        let things = message.shared_things(old);
        let trusted = message.trusted && old.trusted;
        let near = cosine - if trusted { UNRELATED } else { UNRELATED_UNTRUSTED };
        let slot = message.slots.intersection(&old.slots).next().is_some();
        let stranger = !nearest.is_about_the_person_of(old);
        let place = 1.0 / (1.0 + rank as f32);
        UpdateFeatures {
            near: if trusted { near } else { 0.0 },
            near_untrusted: if trusted { 0.0 } else { near },
            untrusted: is(!trusted),
            shared: shared.min(3) as f32 / 3.0,
            shared_things: things.min(2) as f32 / 2.0,
            topic_share: shared as f32 / old.topic.len().max(2) as f32,
            shares_value: is(own.shares_with(others)),
            numbers_differ: is(numbers),
            days_differ: is(days),
            names_differ: is(names),
            values_differ: is(differs),
            old_has_no_values: is(others.are_none()),
            turned: says(Mark::Turned),
            now: says(Mark::Now),
            correct: says(Mark::Correct),
            news: says(Mark::News),
            changes: is(changes),
            changes_a_value: is(changes && differs),
            turned_and_shared: is(turned && shared > 0),
            near_if_changes: if changes { near } else { 0.0 },
            near_if_values_differ: if differs { near } else { 0.0 },
            rank: place,
            another_person: is(stranger),
            another_person_in_message: is(!message.is_about_the_person_of(old)),
            unreal: says(Mark::Unreal),
            old_unreal: is(old.says(Mark::Unreal)),
            request: says(Mark::Request),
            more: says(Mark::More),
            old_both: is(old.says(Mark::Both)),
            event_without_change: is(message.says(Mark::Event) && !changes),
            old_event: is(old.says(Mark::Event)),
            same_slot: is(slot),
            same_slot_and_changes: is(slot && changes),
            length_and_near: (message.words.len().min(30) as f32 / 30.0) * near,
            nearest_changes: is(nearest.tells_of_change()),
            nearest_changes_and_shared: is(nearest.tells_of_change() && shared > 0),
            both_amounts: is(message.says(Mark::Amount) && old.says(Mark::Amount)),
            nearest_of_somebody_else: is(nearest.who.is_somebody_else()),
            nearest_of_another: is(nearest.who.tells_of_another_than(&old.who)),
            old_of_another: is(old.who.tells_of_another_than(&message.who)),
            announced,
            announced_odds: log_odds(announced) / 10.0,
            near_if_announced: announced * near,
            rank_if_announced: announced * place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Models;
    use memgate_embed::{Embedder, deterministic::DeterministicEmbedder};

    fn model() -> std::sync::Arc<Models> {
        Models::for_embedder(DeterministicEmbedder::new(8).space()).unwrap()
    }

    /// As if the older sentence were the nearest one, at this cosine, and the message announced a change so likely.
    fn judged(old: &str, new: &str, cosine: f32, announced: f32) -> f32 {
        let model = &model().update;
        let (message, old) = (Statement::of(new), Statement::of(old));
        Pair { message: &message, nearest: &message, old: &old, cosine, rank: 0, announced }
            .likelihood(model)
    }

    fn is_enough(likelihood: f32) -> bool {
        model().update.is_enough(likelihood)
    }

    #[test]
    fn another_value_and_an_announced_change_make_it_likely_and_distance_less_so() {
        let old = "The team meeting is at nine on Mondays";
        let new = "Meetings on Mondays are cancelled! From now on the team meets on Thursday";
        assert!(is_enough(judged(old, new, 0.7, 0.9)));
        assert!(judged(old, new, 0.1, 0.9) < judged(old, new, 0.4, 0.9));
        assert!(judged(old, new, 0.7, 0.2) < judged(old, new, 0.7, 0.9));
        assert_eq!(judged(old, "The team meets Thursday's client for lunch", 0.7, 0.0), 0.0);
    }

    #[test]
    fn what_is_wished_added_or_somebody_elses_puts_nothing_away() {
        let lessons = "I give Finnish lessons online, 30 euros an hour";
        let rent = "My rent is 900 in Leeds";
        for (old, new) in [
            (lessons, "My friend gives Finnish lessons online for 25 euros now"),
            (lessons, "I might give Finnish lessons for 25 euros an hour from now on"),
            (
                "The team meeting is on Mondays",
                "We now also have a second team meeting on Thursday",
            ),
            (rent, "She moved to Leeds, and her rent is 950 now"),
            (rent, "Tom's rent in Leeds is 950 now"),
        ] {
            assert!(!is_enough(judged(old, new, 0.7, 0.9)), "{new}");
        }
    }

    #[test]
    fn a_message_that_tells_of_a_change_announces_more_than_a_question() {
        let announces = |message: &str| model().update.announces(message, &[]);
        let asks = announces("how do vaccines work?");
        assert!(announces("we've moved to Leeds, it's 950 a month now") > asks);
        assert!(!model().update.may_outdate(asks), "{asks}");
    }
}

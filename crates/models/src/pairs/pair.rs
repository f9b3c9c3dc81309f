//! Signs that a message tells the new state of something that an older sentence told: the features that a small trained
//! model weighs ([`UpdateModel`]). Rules know when two sentences show it for sure; what people write of a change is
//! often spread over a message: "our hall's been sold. We're at the old creamery from now on, Wednesdays".

use crate::{Standing, UpdateFeatures, log_odds};
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
    /// The bytes of that sentence.
    pub length: usize,
    /// The sentences of the message.
    pub sentences: usize,
    /// The best cosine of the older sentence with the message and with one of its sentences.
    pub cosine: f32,
    /// How near the older sentence is, among all that the message is compared with.
    pub standing: Standing,
    /// How likely the message announces a change, see [`UpdateModel::announces`](crate::UpdateModel::announces).
    pub announced: f32,
}

/// Cosines of what has nothing to do with one another, where the embedder knows the language and
/// where it does not; see `change`.
const UNRELATED: f32 = 0.3;
const UNRELATED_UNTRUSTED: f32 = 0.5;

impl Pair<'_> {
    /// The features that the trained model weighs.
    pub fn features(&self) -> UpdateFeatures {
        let Self { message, nearest, old, length, sentences, cosine, standing, announced } = *self;
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
        let place = 1.0 / (1.0 + standing.rank as f32);
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
            centred: standing.cosine,
            centred_of_message: standing.of_message,
            centred_if_announced: announced * standing.cosine,
            gap: standing.gap,
            deviations: standing.deviations,
            log_rank: (standing.rank as f32).ln_1p(),
            sentences: sentences as f32,
            length: (length as f32).ln_1p(),
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

    fn pair<'a>(message: &'a Statement, old: &'a Statement, announced: f32) -> Pair<'a> {
        let standing = Standing::among(&[(0.5, 0.5)])[0];
        let (length, sentences, cosine) = (40, 1, 0.7);
        Pair { message, nearest: message, old, length, sentences, cosine, standing, announced }
    }

    #[test]
    fn a_change_that_is_announced_makes_it_likelier() {
        let model = &model().update;
        let old = Statement::of("The team meeting is at nine on Mondays");
        let new =
            Statement::of("Meetings on Mondays are cancelled! The team meets on Thursday now");
        let likely =
            |announced| model.likelihood(&pair(&new, &old, announced).features(), &[], &[]);
        assert!(likely(0.9) > likely(0.2));
    }

    #[test]
    fn a_message_that_tells_of_a_change_announces_more_than_a_question() {
        let announces = |message: &str| model().update.announces(message, &[]);
        let asks = announces("how do vaccines work?");
        assert!(announces("we've moved to Leeds, it's 950 a month now") > asks);
        assert!(!model().update.may_outdate(asks), "{asks}");
    }
}

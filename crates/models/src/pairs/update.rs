//! Whether a message makes an older sentence outdated, by what the two have in common, what differs, and what says
//! that something changed. `tools/train_updates.py` trains it; reconciliation extracts the features.

use crate::{
    Features, Unreadable,
    linear::Linear,
    pairs::PairModel,
    tensors::{Tensors, wrong},
};

/// The struct of the features, and their names as trainer and weights file know them.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// The features of a message beside one older sentence, each about 0 to 1. *Near* is the cosine less that of
        /// unrelated texts; *trusted* is a pair in a language that the embedder knows.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct UpdateFeatures {
            $($(#[doc = $doc])+ pub $name: f32,)+
        }

        impl UpdateFeatures {
            /// How many there are.
            pub const COUNT: usize = Self::NAMES.len();
            /// Their names, in the order of [`UpdateFeatures::values`].
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)+];

            /// The features of nothing.
            pub const NONE: Self = Self { $($name: 0.0,)+ };

            /// Their values.
            #[must_use]
            pub fn values(&self) -> [f32; Self::COUNT] {
                [$(self.$name,)+]
            }
        }
    };
}

features! {
    /// How near they are, where the pair is trusted.
    near,
    /// How near they are, where it is not.
    near_untrusted,
    /// The pair is not trusted.
    untrusted,
    /// Words of the topic that both share.
    shared,
    /// Things that both name, without names of people.
    shared_things,
    /// The share of the older topic's words that both share.
    topic_share,
    /// Both name the same value.
    shares_value,
    /// Their numbers differ.
    numbers_differ,
    /// Their days differ.
    days_differ,
    /// Their names differ.
    names_differ,
    /// Any of these differ.
    values_differ,
    /// The older sentence names no value.
    old_has_no_values,
    /// The message says that something turned out otherwise, or ended.
    turned,
    /// The message says "now".
    now,
    /// The message corrects something.
    correct,
    /// The message announces news.
    news,
    /// The message says that something changes, in any of these ways.
    changes,
    /// It says so, and a value differs.
    changes_a_value,
    /// Something turned out otherwise, is news or is corrected, and they share a word.
    turned_and_shared,
    /// How near they are, where the message says that something changes.
    near_if_changes,
    /// How near they are, where a value differs.
    near_if_values_differ,
    /// 1 for the nearest older sentence, 1/2 for the second …
    rank,
    /// The nearest sentence of the message is about another person.
    another_person,
    /// The whole message is about another person.
    another_person_in_message,
    /// The message wishes or supposes.
    unreal,
    /// The older sentence wishes or supposes.
    old_unreal,
    /// The message asks for something.
    request,
    /// The message adds one more thing.
    more,
    /// The older sentence says that two things hold.
    old_both,
    /// The message reports an event and no change.
    event_without_change,
    /// The older sentence reports an event.
    old_event,
    /// Both state the same single-valued attribute.
    same_slot,
    /// They do, and the message says that something changes.
    same_slot_and_changes,
    /// The length of the message times how near they are.
    length_and_near,
    /// The nearest sentence of the message says that something changes.
    nearest_changes,
    /// It does, and they share a word.
    nearest_changes_and_shared,
    /// Both state an amount.
    both_amounts,
    /// The nearest sentence is about somebody else than the user.
    nearest_of_somebody_else,
    /// The nearest sentence names a person whom the older one does not.
    nearest_of_another,
    /// The older sentence names a person whom the message does not.
    old_of_another,
    /// How likely the message announces a change of anything.
    announced,
    /// The likelihood of an announcement in log-odds, divided by ten.
    announced_odds,
    /// How likely it announces one, times how near they are.
    near_if_announced,
    /// How likely it announces one, times `rank`.
    rank_if_announced,
    /// Cosine of the older sentence with the nearest one of the message, both less the mean of many vectors.
    centred,
    /// Cosine of the older sentence with the whole message, both less the mean.
    centred_of_message,
    /// `centred` times how likely the message announces a change.
    centred_if_announced,
    /// `centred` less that of the nearest older sentence.
    gap,
    /// `centred` in standard deviations from the mean of the older sentences.
    deviations,
    /// The logarithm of the place among the older sentences, the nearest is 0.
    log_rank,
    /// Sentences of the message.
    sentences,
    /// The logarithm of the bytes of the nearest sentence.
    length,
}

/// Whether an older sentence is outdated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outdated {
    /// It holds.
    No,
    /// It may be: it stays, and is marked.
    Perhaps,
    /// It is.
    Surely,
}

/// Two logistic regressions: whether a message announces a change of anything, and, over [`UpdateFeatures`] and the vectors
/// of both, whether it outdates one older sentence.
#[derive(Debug)]
pub struct UpdateModel {
    announces: Linear,
    /// Least likelihood of an announcement: 3 of 100 found pairs of the training data are below it.
    announces_least: f32,
    pairs: PairModel,
    surely: f32,
    perhaps: f32,
    /// The likelihood of an announcement below which nothing is sure.
    announced: f32,
}

impl UpdateModel {
    pub(crate) fn read(tensors: &Tensors) -> Result<Self, Unreadable> {
        let names = tensors.names("update.features")?;
        if names != UpdateFeatures::NAMES {
            return Err(wrong(
                "update.features",
                "not the features of this version, in their order",
            ));
        }
        let number = |name: &str| tensors.number(&format!("update.{name}"));
        Ok(Self {
            announces: Linear::read(tensors, "update.announces")?,
            announces_least: number("announces.least")?,
            pairs: PairModel::read(tensors, "update", UpdateFeatures::COUNT)?,
            surely: number("threshold.surely")?,
            perhaps: number("threshold.perhaps")?,
            announced: number("threshold.announced")?,
        })
    }

    /// How likely a message announces that something which its user told before has changed, 0 to 1. By its words and,
    /// where there is one, by its passage vector.
    #[must_use]
    pub fn announces(&self, message: &str, vector: &[f32]) -> f32 {
        let features = Features::of_message(message);
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
        let likelihood = self.announces.probability(&features, &[vector]) as f32;
        likelihood
    }

    /// Whether a message with this likelihood of an announcement may outdate anything, so that it is worth comparing.
    #[must_use]
    pub fn may_outdate(&self, announced: f32) -> bool {
        announced >= self.announces_least
    }

    /// A passage vector less the mean of many, of length 1.
    #[must_use]
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        self.pairs.centred(vector)
    }

    /// How likely the older sentence is outdated, 0 to 1. `nearest` and `old` are centred vectors; without them the features
    /// alone decide.
    #[must_use]
    pub fn likelihood(&self, features: &UpdateFeatures, nearest: &[f32], old: &[f32]) -> f32 {
        self.pairs.likelihood(&features.values(), nearest, old)
    }

    /// The verdict on the older sentence by a likelihood. Nothing is sure where the message hardly announces a change, wishes or
    /// adds one thing more, or where one of both tells of somebody whom the other does not mention.
    #[must_use]
    pub fn verdict(&self, likelihood: f32, features: &UpdateFeatures) -> Outdated {
        let UpdateFeatures { unreal, old_unreal, more, nearest_of_another, old_of_another, .. } =
            *features;
        let unsure = unreal + old_unreal + more + nearest_of_another + old_of_another > 0.0;
        if likelihood >= self.surely && features.announced >= self.announced && !unsure {
            Outdated::Surely
        } else if likelihood >= self.perhaps {
            Outdated::Perhaps
        } else {
            Outdated::No
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::e5;

    #[test]
    fn what_is_not_announced_wished_added_or_somebody_elses_is_never_sure() {
        let model = &e5().update;
        let told = UpdateFeatures { announced: 1.0, ..UpdateFeatures::NONE };
        assert_eq!(model.verdict(1.0, &told), Outdated::Surely);
        for unsure in [
            UpdateFeatures::NONE,
            UpdateFeatures { unreal: 1.0, ..told },
            UpdateFeatures { old_unreal: 1.0, ..told },
            UpdateFeatures { more: 1.0, ..told },
            UpdateFeatures { nearest_of_another: 1.0, ..told },
            UpdateFeatures { old_of_another: 1.0, ..told },
        ] {
            assert_eq!(model.verdict(1.0, &unsure), Outdated::Perhaps);
            assert_eq!(model.verdict(0.0, &unsure), Outdated::No);
        }
    }
}

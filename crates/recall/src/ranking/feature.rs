//! Features that order hits. They do not decide whether a hit is presented: that is the calibrated relevance alone.

use jiff::{Timestamp, tz::TimeZone};

use crate::{hit::Hit, query::Asked, settings::RankingConfig};
use memgate_models::Relevance;

/// A step of ranking that is timed and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum RankStep {
    /// Calibrated relevance.
    Relevance,
    /// Context features: the words just before, speaker, date.
    Context,
    /// Query-independent priors: type, age, importance.
    Priors,
    /// Sorting, and joining turns with the statements extracted from them.
    Order,
    /// Selection of the memories to present.
    Select,
}

/// The question for which evidence is ranked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Its words.
    pub text: &'a str,
    /// Whether it asks for the assistant's words.
    pub replies: bool,
    /// Hints of the question about the memories it wants.
    pub asked: &'a Asked,
    /// Calibrates the relevance of evidence.
    pub relevance: &'a Relevance,
    /// The time of asking.
    pub now: Timestamp,
    /// The user's time zone.
    pub zone: &'a TimeZone,
}

/// A feature, or a few that are computed together.
pub(super) trait Feature: Sync {
    /// The step that metrics count it as.
    fn step(&self) -> RankStep;

    /// Sets its members of [`crate::FeatureScores`] in each hit. Returns how many hits it concerns.
    fn apply(&self, question: &Question<'_>, ranking: &RankingConfig, hits: &mut [Hit]) -> usize;
}

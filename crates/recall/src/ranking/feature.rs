//! Features that order hits. They do not decide whether a hit is presented: that is the calibrated relevance alone.

use jiff::{Timestamp, tz::TimeZone};

use crate::{hit::Hit, query::Asked, settings::RankingConfig};
use memgate_models::Relevance;
use memgate_telemetry::RankStep;

/// What evidence is ranked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Its words.
    pub text: &'a str,
    /// What it says of the memories it wants.
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

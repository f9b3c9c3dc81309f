//! The steps and rules of ranking that are timed and counted; their names are label values.

/// A step of ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RankStep {
    /// Calibrated relevance.
    Relevance,
    /// Context features: the words just before, speaker, date.
    Context,
    /// Query-independent priors: type, age, importance.
    Priors,
    /// Sorting, and joining turns with the statements extracted from them.
    Order,
    /// Selection of the memories to present.
    Gate,
}

/// A rule that leaves out memories above the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RankRule {
    /// Near-duplicate of a better memory.
    Distinct,
    /// Its session already has the maximum number of memories.
    SessionCap,
}

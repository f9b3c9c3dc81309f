//! The steps and rules of ranking that are timed and counted, under their names in labels.

/// A step of ranking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankStep {
    /// The calibrated relevance.
    Relevance,
    /// Words beside it, its session, its speaker, its date.
    Standing,
    /// What was said just before and after.
    Neighbours,
    /// Mentions of what the query names.
    Entities,
    /// The search for such mentions.
    EntityFetch,
    /// What a memory adds by itself: type, age, importance, …
    Own,
    /// Sorting, and joining turns with what was taken from them.
    Order,
    /// The choice of what is presented.
    Gate,
}

impl RankStep {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Relevance => "relevance",
            Self::Standing => "standing",
            Self::Neighbours => "neighbours",
            Self::Entities => "entities",
            Self::EntityFetch => "entity_fetch",
            Self::Own => "own",
            Self::Order => "order",
            Self::Gate => "gate",
        }
    }
}

/// A rule that leaves out memories which are relevant enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRule {
    /// Far behind the best one.
    Gap,
    /// Says what a better one says.
    Distinct,
    /// Its session has enough.
    SessionCap,
}

impl RankRule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::Distinct => "distinct",
            Self::SessionCap => "session_cap",
        }
    }
}

//! The projects, or agents, that a search covers.

/// Which of an owner's projects, or agents, a search covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// All of them, and what belongs to none.
    #[default]
    All,
    /// Memories of no project (or agent).
    None,
    /// Memories of this one, and of none.
    Shared(String),
    /// Memories of this one.
    Only(String),
}

impl Within {
    /// Exactly this one, or none where none is named.
    #[must_use]
    pub fn exactly(id: Option<&str>) -> Self {
        id.map_or(Self::None, |id| Self::Only(id.to_owned()))
    }

    /// The one that a caller works in, and none: what the caller may see.
    #[must_use]
    pub fn visible_to(id: Option<&str>) -> Self {
        id.map_or(Self::None, |id| Self::Shared(id.to_owned()))
    }

    /// The one that is named.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::All | Self::None => None,
            Self::Shared(id) | Self::Only(id) => Some(id),
        }
    }

    /// Whether what belongs to `id` is covered.
    #[must_use]
    pub fn holds(&self, id: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::None => id.is_none(),
            Self::Shared(own) => id.is_none_or(|id| id == own),
            Self::Only(own) => id == Some(own),
        }
    }
}

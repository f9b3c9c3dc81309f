//! The trained models, in the order of training.

/// A model, in the order of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
pub(super) enum Model {
    /// The embedding model's upper layers.
    Encoder,
    /// How a question is turned before it is compared.
    QueryAdapter,
    /// Whether a message needs memory.
    Need,
    /// Whether a client wrote a message.
    Housekeeping,
    /// Whether a message asks for what the assistant said.
    Answers,
    /// Whether a message takes up the last conversation as a whole.
    Resuming,
    /// Whose words a piece of a message is, and whether it is worth keeping.
    Reader,
    /// The model of memorable statements by words alone.
    Memorable,
    /// Whether a message makes an older sentence outdated.
    Update,
    /// Which sentences ask to forget something, and what they mean.
    Forgetting,
    /// How relevant a memory is.
    Relevance,
}

impl Model {
    pub(super) const ALL: [Self; 11] = [
        Self::Encoder,
        Self::QueryAdapter,
        Self::Need,
        Self::Housekeeping,
        Self::Answers,
        Self::Resuming,
        Self::Reader,
        Self::Memorable,
        Self::Update,
        Self::Forgetting,
        Self::Relevance,
    ];

    /// Its name in the manifest.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Encoder => "encoder",
            Self::QueryAdapter => "query_adapter",
            Self::Need => "need",
            Self::Housekeeping => "housekeeping",
            Self::Answers => "answers",
            Self::Resuming => "resuming",
            Self::Reader => "reader",
            Self::Memorable => "memorable",
            Self::Update => "update",
            Self::Forgetting => "forgetting",
            Self::Relevance => "relevance",
        }
    }

    /// Whether it learns from stories replayed with the models before it, which the program must have compiled in.
    pub(super) fn needs_those_before(self) -> bool {
        matches!(self, Self::Relevance)
    }
}

//! The kinds of jobs, and the lanes they run in.

use memgate_core::memory::Owner;

/// The kind of a job.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum JobKind {
    /// Makes the memory of a turn; the subject is the turn.
    StoreTurn,
    /// Makes memories of the statements in a turn; the subject is the turn.
    ExtractLocally,
    /// Makes memories of what a user asked to be remembered; the subject is the turn.
    Remember,
    /// Stores the preferences that a user stated; the subject is the turn.
    SetPreferences,
    /// Deletes what a user asked to be forgotten; the subject is the turn, or a
    /// negative number where no turn is kept.
    ForgetSaid,
    /// Forgets a turn whose message was edited and sent anew; the subject is the turn.
    ForgetEdited,
    /// Erases what a request to forget has hidden, when its grace is over; the subject is the same.
    EraseForgotten,
    /// Asks the helper model for the facts in the last turns up to one; the
    /// subject is that turn. It can take long, so it has a lane of its own.
    Extract,
    /// Makes memories of what an extraction found; the subject is its last turn.
    Reconcile,
    /// Ends a session that is idle; the subject is the session.
    EndIdleSession,
    /// Keeps what is known of a session without a user, because it goes on; the subject is its turn.
    KeepSession,
    /// Sums up a session that has ended; the subject is the session. It may ask the
    /// helper model, so it runs where extractions do.
    Summarise,
    /// Gives memories their missing vectors; there is one such job.
    Embed,
    /// Removes from the journal what was learnt and is old; there is one such job.
    Prune,
}

impl JobKind {
    /// The name in tables and metrics.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// All of them.
    pub(crate) const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Whether such a job is given up when it fails again and again. A request to forget is owed
    /// until it is done.
    pub(crate) fn is_given_up(self) -> bool {
        !matches!(self, Self::ForgetSaid | Self::EraseForgotten)
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// The lane of such jobs. No owner's key begins with a word and two slashes. What
    /// waits for a model server has lanes of its own; `lanes` knows them by their beginning.
    pub(crate) fn lane(self, owner: Option<&Owner>) -> String {
        match (self, owner) {
            (Self::Extract | Self::Summarise, Some(owner)) => format!("extract//{}", owner.key()),
            (_, Some(owner)) => owner.key(),
            (_, None) => format!("{}//", self.name()),
        }
    }
}

/// The lanes in which an owner's jobs run.
pub(crate) fn lanes_of(owner: &Owner) -> [String; 2] {
    [JobKind::StoreTurn, JobKind::Extract].map(|kind| kind.lane(Some(owner)))
}

//! Answers as JSON, without internal fields.

mod access;
mod context;
mod decisions;
mod journal;
mod memories;
mod preferences;
mod record;
mod sessions;
mod summary;
mod trail;
mod transfer;

pub use access::{
    AuditEntryView, AuditView, CallerView, CreatedKeyView, KeyView, KeysView, RevokedView,
};
pub use context::ContextView;
pub use decisions::{DecisionHead, DecisionView, DecisionsView};
pub use journal::{
    EndedView, FlushedView, ForgettingView, ForgettingsView, JobView, JobsView, RetriedView,
    SessionView, SessionsView, UndoneView,
};
pub use memories::{CountView, DeletedView, HitView, HitsView, MemoriesView, MemoryView};
pub use preferences::{PreferenceView, PreferencesView, SetPreferenceView, WishView};
pub use record::{ChangeView, HistoryView, ProvenanceView, RecordView, SaidView, VersionView};
pub use sessions::{SessionTurnView, SessionTurnsView};
pub use summary::{RecallSummaryView, StepSummaryView};
pub(in crate::api) use trail::outcome;
pub use trail::{
    CandidateView, QueryView, RecallView, RecallsView, StepView, TurnEventView, TurnView, WhyView,
};
pub use transfer::{ImportedView, ProblemView, StatsView};

//! Answers as JSON, without internal fields.

mod access;
mod context;
mod journal;
mod memories;
mod preferences;
mod summary;
mod trail;
mod transfer;

pub use access::{
    AuditEntryView, AuditView, CallerView, CreatedKeyView, KeyView, KeysView, RevokedView,
};
pub use context::ContextView;
pub use journal::{
    EndedView, FlushedView, ForgettingView, ForgettingsView, JobView, JobsView, RetriedView,
    SessionView, SessionsView, UndoneView,
};
pub use memories::{DeletedView, HitView, HitsView, MemoriesView, MemoryView};
pub use preferences::{PreferenceView, PreferencesView};
pub use summary::{RecallSummaryView, StepSummaryView};
pub(in crate::api) use trail::outcome;
pub use trail::{
    CandidateView, QueryView, RecallView, RecallsView, StepView, TurnEventView, TurnView, WhyView,
};
pub use transfer::{ImportedView, ProblemView, StatsView};

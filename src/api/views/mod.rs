//! Answers as JSON, without internal fields.

mod access;
mod journal;
mod memories;
mod preferences;
mod trail;
mod transfer;

pub use access::{AuditEntryView, AuditView, CreatedKeyView, KeyView, KeysView, RevokedView};
pub use journal::{
    EndedView, FlushedView, ForgettingView, ForgettingsView, JobView, JobsView, RetriedView,
    SessionView, SessionsView, UndoneView,
};
pub use memories::{DeletedView, HitView, HitsView, MemoriesView, MemoryView};
pub use preferences::{PreferenceView, PreferencesView};
pub(in crate::api) use trail::outcome;
pub use trail::{
    CandidateView, QueryView, RecallView, RecallsView, StepView, TurnEventView, TurnView, WhyView,
};
pub use transfer::{ImportedView, ProblemView, StatsView};

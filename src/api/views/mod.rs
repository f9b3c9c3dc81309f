//! Answers as JSON, without internal fields.

mod access;
mod journal;
mod memories;
mod preferences;
mod transfer;

pub use access::{AuditEntryView, AuditView, CreatedKeyView, KeyView, KeysView, RevokedView};
pub use journal::{
    EndedView, FlushedView, ForgettingView, ForgettingsView, JobView, JobsView, RetriedView,
    SessionView, SessionsView, UndoneView,
};
pub use memories::{DeletedView, HitView, HitsView, MemoriesView, MemoryView};
pub use preferences::{PreferenceView, PreferencesView};
pub use transfer::{ImportedView, ProblemView, StatsView};

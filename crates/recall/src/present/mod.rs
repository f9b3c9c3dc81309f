//! Presentation: the selected hits and the user's preferences as the text of a context.

mod context;
mod line;
mod preferences;
mod snippet;

pub(super) use self::context::write_apart;
pub use self::context::{Context, ContextContent, Shared, write as write_context};
pub use self::line::MAY_HAVE_CHANGED;
pub(super) use self::preferences::{Wanted, fetch_preferences, without_preferences};

//! Presentation: the selected hits and the user's preferences as the text of a context.

mod context;
mod debug;
mod line;
mod preferences;
mod snippet;
mod tokens;

pub use self::context::{Context, ContextContent, write as write_context};
pub use self::debug::{PresentedMemory, Why};
pub use self::line::MAY_HAVE_CHANGED;
pub(super) use self::preferences::{Wanted, fetch_preferences, without_preferences};
pub use self::tokens::{prepare as prepare_tokens, tokens};

//! Forgetting: the turns to remove, and the requests of users to forget.

mod requests;
mod turns;

pub use requests::Forgetting;
pub(crate) use requests::{
    Hidden, cancel as cancel_forgetting, erase_later, hidden_by, hidden_for,
    pending as pending_forgettings,
};
pub use turns::Forget;
pub(crate) use turns::withhold_words;
pub(in crate::journal) use turns::{by_key, remove};

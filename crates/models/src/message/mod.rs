//! Models that judge a whole message: whether it needs memory, whether a client wrote it, whether it asks for the assistant's
//! earlier words, whether it takes up the last conversation.

mod answers;
mod housekeeping;
mod need;
mod resuming;

pub use answers::AnswersModel;
pub use housekeeping::HousekeepingModel;
pub use need::{Need, NeedModel, Opinion};
pub use resuming::ResumingModel;

//! Preferences and wishes as memories: the value that a memory holds as structured data, and which values are in force.
//!
//! A context shows the value of a preference alone ([`wording`]), so that no text of a user stands
//! as an instruction.

mod in_force;
mod structured;
mod wording;

pub use in_force::{PreferenceInForce, in_force};
pub use memgate_text::preferences::{
    Address, AnswerLanguage, Expertise, Format, InvalidPreference, Length, Preference,
    PreferenceKey, Tone, Units, UserName,
};
pub use wording::wording;

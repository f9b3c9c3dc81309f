//! Signals: what is known of an ask before any memory is looked at.
//!
//! Earlier filters come first; where they are silent our own rules speak where they are sure, and
//! a small trained model where they are not. This module must never know a store, who embeds, or
//! what is decided.

mod command;
mod earlier;
mod greeting;
mod personal;

pub use command::{Command, Commands, Subject, Typed, prepare};
pub use earlier::{Earlier, Name};
pub use greeting::is_greeting;
pub use personal::is_personal;

//! Language knowledge: text in, findings out.
//!
//! Normal forms, sentences, words and BM25, dates and times, commands, preferences, names. It does no I/O and knows
//! neither memories nor stores.

pub mod alone;
pub mod command;
pub mod compare;
pub mod cues;
pub mod entity;
pub mod first_person;
pub mod greeting;
pub mod housekeeping;
pub mod index;
pub mod introduced;
pub mod lang;
pub mod names;
pub mod normal;
pub mod pieces;
pub mod preferences;
pub mod pronouns;
pub mod question;
pub mod repeats;
pub mod rules;
pub mod sentences;
pub mod time;

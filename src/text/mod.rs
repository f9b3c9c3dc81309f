//! Language knowledge: text in, findings out.
//!
//! Normal forms, sentences, words and BM25, dates and times, commands, preferences, names. It does no I/O and knows
//! neither memories nor stores.

pub(crate) mod command;
pub(crate) mod compare;
pub(crate) mod cues;
pub(crate) mod entity;
pub(crate) mod first_person;
pub(crate) mod greeting;
pub(crate) mod index;
pub(crate) mod lists;
pub(crate) mod names;
pub(crate) mod normal;
pub(crate) mod pieces;
pub(crate) mod preferences;
pub(crate) mod pronouns;
pub(crate) mod question;
pub(crate) mod repeats;
pub(crate) mod rules;
pub(crate) mod sentences;
pub(crate) mod time;

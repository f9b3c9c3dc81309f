//! Reads requests: their types, where their members are, and errors that name the field.

pub(super) mod description;
pub(super) mod extract;
pub(super) mod headers;
pub(super) mod input;
pub(crate) mod requests;
pub(super) mod schemas;
mod words;

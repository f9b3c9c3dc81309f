//! Reads requests: their types, and errors that name the field.

pub(crate) mod access_requests;
pub(super) mod extract;
pub(crate) mod requests;
mod words;

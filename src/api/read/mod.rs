//! Reads requests: their types, and errors that name the field.

pub(super) mod deserialize_error;
pub(super) mod deserializer;
pub(super) mod extract;
pub(crate) mod requests;
pub(super) mod value;

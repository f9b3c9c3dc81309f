//! Reads YAML and environment variables into the types: errors in words, suggestions for unknown keys.

pub(crate) mod interpolate;
pub(crate) mod problem;
pub(crate) mod suggest;
pub(crate) mod words;
pub(crate) mod yaml;

//! Reads YAML into the types: places, strict errors in words, suggestions for unknown keys.

pub(crate) mod deserialize_error;
pub(crate) mod deserializer;
pub(crate) mod interpolate;
pub(crate) mod problem;
pub(crate) mod suggest;
pub(crate) mod yaml_tree;

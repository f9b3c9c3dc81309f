//! The sections of the configuration, one file each.

pub(crate) mod api;
pub(crate) mod effective;
pub(crate) mod embedding;
pub(crate) mod identity;
pub(crate) mod listen;
pub(crate) mod memory;
pub(crate) mod milvus;
pub(crate) mod models;
pub(crate) mod placement;
pub(crate) mod policy;
pub(crate) mod postgres;
pub(crate) mod trail;

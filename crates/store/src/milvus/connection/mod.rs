//! The connection to Milvus: settings, calls, faults.

pub(crate) mod fault;
pub(crate) mod server;
pub(crate) mod settings;

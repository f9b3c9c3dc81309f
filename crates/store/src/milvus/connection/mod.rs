//! The connection to Milvus: settings, session, calls, faults.

pub(crate) mod fault;
pub(crate) mod link;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod settings;

//! The connection to PostgreSQL: settings, pool, transactions, faults, and what the database must
//! have.

pub(crate) mod fault;
pub(crate) mod pool;
pub(crate) mod prepare;
pub(crate) mod settings;
pub(crate) mod tls;
pub(crate) mod transaction;

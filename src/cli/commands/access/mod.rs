//! Who may use the API, and who changed what.

pub(in crate::cli) mod audit;
pub(in crate::cli) mod key;

//! `memgate check-config` and `memgate check-health`.

pub(in crate::cli) mod config;
pub(in crate::cli) mod health;

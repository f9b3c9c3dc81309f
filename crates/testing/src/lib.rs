//! Test doubles that several crates use. Only tests depend on it.

#![expect(clippy::unwrap_used, reason = "tests alone depend on this crate")]

mod faulty_store;

pub use faulty_store::{FaultyStore, Mode};

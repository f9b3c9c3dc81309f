//! Test doubles that several crates use. Only tests depend on it.

mod faulty_store;

pub use faulty_store::{FaultyStore, Mode};

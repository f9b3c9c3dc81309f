//! Test doubles, and a world with recall and capture. Only tests depend on it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests alone depend on this crate")]

mod faulty_store;
#[cfg(feature = "world")]
mod world;

pub use faulty_store::{FaultyStore, Mode};
#[cfg(feature = "world")]
pub use world::{World, WorldOptions};

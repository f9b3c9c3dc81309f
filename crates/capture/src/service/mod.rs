//! Capture as the rest of memgate uses it.

mod admin;
mod capture;
mod correct;
mod flush;
mod forget;
mod history;

#[cfg(test)]
mod tests;

pub use capture::{Bounds, Capture};
pub use flush::Flushed;

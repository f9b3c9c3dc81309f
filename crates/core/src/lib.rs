//! The foundation of all parts: the clock, memories and their owners, the store's interface,
//! identity.
//! It depends on no other part but the language knowledge.

pub mod clock;
pub mod fence;
pub mod identity;
pub mod memory;
pub mod zone;

/// Crates that the macros of this crate need where they are called.
#[doc(hidden)]
pub mod reexport {
    pub use async_trait::async_trait;
    pub use jiff::Timestamp;
}

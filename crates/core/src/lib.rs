//! What every part agrees on: memories and their owners, the store's interface, identity, and screening for secrets.
//! It depends on no other part but the language knowledge.

pub mod fence;
pub mod identity;
pub mod memory;
pub mod screening;

//! What a message asks, and about what.

pub(crate) mod as_statement;
pub(crate) mod asking;
pub(crate) mod asking_part;
pub(crate) mod decompose;
pub(crate) mod key_terms;
pub(crate) mod vague;

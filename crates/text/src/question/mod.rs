//! Questions: what a message asks, and about what.

pub mod as_statement;
pub mod asking;
pub mod asking_part;
pub mod decompose;
pub mod key_terms;
pub mod replies;
pub mod vague;

//! Texts as recall reads them: bounded views, and their tokens.

pub(crate) mod tokens;
pub(crate) mod view;

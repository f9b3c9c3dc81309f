//! Words, and lists of them: the normal form of a text, its tokens, its cues. The features of the trained models
//! (`models`) and the rules of extraction and reconciliation are made of them.

pub(crate) mod cues;
pub(crate) mod lists;
pub(crate) mod text;

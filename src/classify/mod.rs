//! Linear models over hashed n-grams, cues and what an embedding model makes of a text: the parts
//! that whoever classifies has in common, and the words and lists they are made of.
//!
//! `tools/classify.py` does the same step by step, so what is trained there can be run here; a
//! test of each classifier compares the two. This module must never know what is classified, or why.

pub(crate) mod cues;
mod features;
mod linear;
pub(crate) mod lists;
pub(crate) mod text;

pub(crate) use features::Features;
pub(crate) use linear::{Linear, is_whole, number, take, trained_with};

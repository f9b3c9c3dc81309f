//! Lexical search for stores without one of their own: tokenisation, and BM25 over one owner's
//! memories.
//!
//! It must not depend on stores, or on the purpose of a query.

mod bm25;
mod lexicon;
mod terms;
mod tokens;
mod words;

pub use bm25::{Lexical, Postings};
pub use terms::{QueryTerms, Terms};
pub use tokens::is_unspaced;
pub use words::{content_words, meaning_set, meaning_words, stemmed_words, token_set};

//! Lexical evidence for the stores that have no word search of their own: words
//! of a text, and BM25 over one owner's memories.
//!
//! It must never know where memories are kept, or what a query is for.

mod bm25;
mod irregular;
mod stop;
mod terms;
mod tokens;
mod words;

pub use bm25::Postings;
pub use terms::{QueryTerms, Terms};
pub use tokens::is_unspaced;
pub use words::{content_words, meaning_set, token_set};

//! From turns to memories of turns, summaries, and candidates. Extractors do not read the store, and do
//! not depend on the journal.

pub(super) mod explicit;
pub(super) mod llm;
pub(super) mod local;
pub(super) mod summary;
pub(super) mod turns;

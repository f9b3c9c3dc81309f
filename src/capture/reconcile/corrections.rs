//! What an extractor says a candidate corrects: the words of a memory that it was shown.

use jiff::Timestamp;

use super::{compare::Saying, stored::Scope};
use crate::{
    capture::keep::Keeper,
    memory::{Memory, StoreError},
};

/// The memory of these words; `None` where none is stored in this scope: a model may invent one.
pub(super) async fn named(
    keeper: &Keeper,
    scope: &Scope,
    words: &str,
    now: Timestamp,
) -> Result<Option<Memory>, StoreError> {
    let wanted = Saying::of(words);
    let found = scope.by_words(keeper, words, now).await?;
    Ok(found.into_iter().find(|memory| Saying::of(&memory.content).has_the_words_of(&wanted)))
}

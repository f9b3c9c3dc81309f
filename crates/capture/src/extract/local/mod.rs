//! Statements worth keeping, found in the user's words by the embedder, a small
//! trained model and rules that are sure; no model server is asked.
//!
//! It keeps sentences as they were said. A sentence that only points at
//! something takes along the one before, and a relative date gets the day it
//! meant beside it. It must never know what is stored, nor read a reply.

mod judge;
mod statements;

#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::{candidate::Candidate, turn::StoredTurn};
use judge::Judge;
use memgate_core::memory::MemoryType;
use memgate_embed::{EmbedError, Embedder};
use memgate_models::Models;
use memgate_text::{names, rules, time::statement_dates};

/// The longest message that is looked at, in characters: what is longer is
/// pasted, and the turn itself is remembered anyway.
const MAX_CHARS: usize = 2_000;

/// The statements in a turn; where the embedder fails, by their words alone. `before` is the session's turn before it, for what
/// its first sentence may point at.
pub(crate) async fn extract(
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Vec<Candidate>, EmbedError> {
    let text = turn.user_text.trim();
    if !text.chars().any(char::is_alphanumeric)
        || text.chars().nth(MAX_CHARS).is_some()
        || rules::drops(text)
    {
        return Ok(Vec::new());
    }
    let before = before.and_then(|turn| earlier(&turn.user_text));
    let message = statements::Message::of(text, before);
    let judge = Judge::of(embedder, models, message.texts()).await?;
    let found = message.statements(&judge);
    Ok(found.into_iter().map(|words| candidate(&words, text, &judge, turn.began)).collect())
}

/// Candidates of statements, whether or not they look worth keeping.
pub(crate) async fn as_they_are(
    embedder: &dyn Embedder,
    models: &Models,
    statements: Vec<String>,
    at: Timestamp,
) -> Result<Vec<Candidate>, EmbedError> {
    let judge = Judge::of(embedder, models, statements.clone()).await?;
    Ok(statements.iter().map(|words| candidate(words, words, &judge, at)).collect())
}

/// Whether nothing of a text may be kept beyond its turn: it tells a secret, gives
/// orders to the model, or asks not to be stored.
pub(crate) fn holds_back(text: &str) -> bool {
    rules::drops(text)
}

/// An earlier message, as far as it may be kept.
fn earlier(text: &str) -> Option<&str> {
    (text.chars().nth(MAX_CHARS).is_none() && !rules::drops(text)).then_some(text)
}

fn candidate(words: &str, message: &str, judge: &Judge<'_>, at: Timestamp) -> Candidate {
    let memory_type =
        if judge.is_procedural(words) { MemoryType::PROCEDURAL } else { MemoryType::SEMANTIC };
    let content = statement_dates::dated(words, at);
    let raw = (content != words).then(|| words.to_owned());
    let named = names::named(words, message);
    Candidate {
        memory_type: memory_type.to_owned(),
        content,
        raw,
        mentions: named.mentions,
        entity_relations: named.relations,
        ..Candidate::default()
    }
}

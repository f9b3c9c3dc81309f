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

use jiff::{
    Timestamp,
    tz::{TimeZone, offset},
};

use crate::{candidate::Candidate, turn::StoredTurn};
use judge::Judge;
use memgate_core::memory::MemoryType;
use memgate_embed::{EmbedError, Embedder};
use memgate_models::{Clause, Models};
use memgate_text::{
    names,
    pieces::Piece,
    rules,
    time::{ending, statement_dates},
};

/// The longest message that is looked at, in characters: what is longer is
/// pasted, and the turn itself is remembered anyway.
const MAX_CHARS: usize = 2_000;

/// Whether a message is too long to be looked at.
pub(crate) fn is_too_long(text: &str) -> bool {
    text.trim().chars().nth(MAX_CHARS).is_some()
}

/// The statements in a turn; where the embedder fails, by their words alone. `before` is the session's turn before it, for what
/// its first sentence may point at.
pub(crate) async fn extract(
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Vec<Candidate>, EmbedError> {
    let Some((found, judge)) = statements(embedder, models, turn, before).await? else {
        return Ok(Vec::new());
    };
    let text = turn.user_text.trim();
    Ok(found.into_iter().map(|words| candidate(&words, text, &judge, turn.began)).collect())
}

/// Whether there is a statement in a turn, as [`extract`] finds them.
pub(crate) async fn tells(
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<bool, EmbedError> {
    let found = statements(embedder, models, turn, before).await?;
    Ok(found.is_some_and(|(found, _)| !found.is_empty()))
}

/// The words of the statements in a turn, and who judged them; `None` where the turn is not looked at.
async fn statements<'m>(
    embedder: &dyn Embedder,
    models: &'m Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Option<(Vec<String>, Judge<'m>)>, EmbedError> {
    let text = turn.user_text.trim();
    if !text.chars().any(char::is_alphanumeric) || is_too_long(text) || rules::drops(text) {
        return Ok(None);
    }
    let before = before.and_then(|turn| earlier(&turn.user_text));
    let message = statements::Message::of(text, before);
    let judge = Judge::of(embedder, models, message.texts()).await?;
    Ok(Some((message.statements(&judge), judge)))
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
    (!is_too_long(text) && !rules::drops(text)).then_some(text)
}

fn candidate(words: &str, message: &str, judge: &Judge<'_>, at: Timestamp) -> Candidate {
    let memory_type =
        if judge.is_procedural(words) { MemoryType::PROCEDURAL } else { MemoryType::SEMANTIC };
    let content = statement_dates::dated(words, at);
    let ends = ends(&content, judge, at);
    let raw = (content != words).then(|| words.to_owned());
    let named = names::named(words, message);
    Candidate {
        memory_type: memory_type.to_owned(),
        content,
        raw,
        ends,
        mentions: named.mentions,
        entity_relations: named.relations,
        ..Candidate::default()
    }
}

/// When a plan with a day is over: when that day has ended everywhere on Earth. A statement that surely tells something
/// beside the plan does not end with it.
fn ends(content: &str, judge: &Judge<'_>, at: Timestamp) -> Option<Timestamp> {
    let last = ending::last_day(content, at)?;
    let clauses = Piece::sentences(content).into_iter().flat_map(|sentence| sentence.clauses());
    let (dated, others): (Vec<_>, Vec<_>) =
        clauses.partition(|clause| ending::last_day(clause.words(), at).is_some());
    let tells = |clause: &Piece<'_>| judge.clause(clause) == Clause::Statement;
    if dated.is_empty() || others.iter().any(tells) {
        return None;
    }
    let westernmost = TimeZone::fixed(offset(-12));
    Some(last.at(23, 59, 59, 0).to_zoned(westernmost).ok()?.timestamp())
}

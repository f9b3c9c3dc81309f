//! Statements worth keeping, found in the user's words by the embedder, a small
//! trained model and rules that are sure; no model server is asked.
//!
//! It keeps sentences as they were said. A sentence that only points at
//! something takes along the one before, and a relative date gets the day it
//! meant beside it. It must never know what is stored, nor read a reply.

mod judge;
mod statements;

#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod tests;

use jiff::{
    Timestamp,
    civil::Date,
    tz::{TimeZone, offset},
};

use crate::{candidate::Candidate, turn::StoredTurn};
use judge::Judge;
pub(crate) use judge::may_hold_pasted;
use memgate_core::memory::MemoryType;
use memgate_embed::{EmbedError, Embedder};
use memgate_models::{MemorableModel, Models};
use memgate_text::{
    alone::needs_its_question,
    names,
    pieces::Piece,
    rules,
    sentences::sentences,
    time::{ending, statement_dates},
};
use statements::{Message, Statement};

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
    let text = turn.user_text.trim();
    let found = statements(embedder, models, turn, before).await?;
    let candidate = |it: Statement| candidate(&it, text, &models.memorable, turn.day());
    Ok(found.into_iter().map(candidate).collect())
}

/// The result of looking at a turn's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The message without what its user did not say.
    pub(crate) own: String,
    /// These words without the requests to forget something.
    pub(crate) rest: String,
    /// Whether there is a statement in it, as [`extract`] finds them.
    pub(crate) tells: bool,
    /// Whether its user asks that it not be remembered.
    pub(crate) private: bool,
    /// Its requests to forget in free words, each with the sentence before it.
    pub(crate) requests: Vec<String>,
}

/// Looks at a turn.
pub(crate) async fn look(
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Look, EmbedError> {
    let text = turn.user_text.trim();
    let judge = Judge::of(embedder, models, text).await?;
    let tells = match is_passed_over(text) {
        true => false,
        false => !found(&judge, embedder, models, turn, before).await?.is_empty(),
    };
    let [own, rest] = [true, false].map(|requests| judge.own_words(text, requests));
    let private = judge.is_private(text);
    Ok(Look { own, rest, tells, private, requests: judge.requests(text) })
}

/// The statements in a turn; none where it is not looked at.
async fn statements(
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Vec<Statement>, EmbedError> {
    let text = turn.user_text.trim();
    if is_passed_over(text) {
        return Ok(Vec::new());
    }
    let judge = Judge::of(embedder, models, text).await?;
    found(&judge, embedder, models, turn, before).await
}

/// The statements in a turn whose message this judge has read. An answer is read with its question, and kept with it.
async fn found(
    judge: &Judge<'_>,
    embedder: &dyn Embedder,
    models: &Models,
    turn: &StoredTurn,
    before: Option<&StoredTurn>,
) -> Result<Vec<Statement>, EmbedError> {
    let text = turn.user_text.trim();
    if judge.is_private(text) {
        return Ok(Vec::new());
    }
    if let Some(question) = before.and_then(|before| question(&before.reply_text, text)) {
        let text = format!("{question}\n{text}");
        let judge = Judge::of(embedder, models, &text).await?;
        return Ok(Message::answering(&text).statements(&judge));
    }
    let before = before.and_then(|turn| earlier(&turn.user_text));
    Ok(Message::of(text, before).statements(judge))
}

/// The longest question of the assistant that is kept with its answer, in characters.
const MAX_QUESTION_CHARS: usize = 160;

/// The question at the end of a reply that a message answers in words too few to be understood alone.
fn question<'r>(reply: &'r str, message: &str) -> Option<&'r str> {
    let first = Piece::sentences(message).into_iter().next()?;
    let last = sentences(reply).pop()?;
    let asks = last.ends_with(['?', '？', '؟']) && last.chars().nth(MAX_QUESTION_CHARS).is_none();
    (asks && needs_its_question(first.words()) && !rules::drops(last)).then_some(last)
}

fn is_passed_over(text: &str) -> bool {
    !text.chars().any(char::is_alphanumeric) || is_too_long(text) || rules::drops(text)
}

/// Candidates of statements, whether or not they look worth keeping.
pub(crate) async fn as_they_are(
    embedder: &dyn Embedder,
    models: &Models,
    statements: Vec<String>,
    said: Date,
) -> Result<Vec<Candidate>, EmbedError> {
    let mut candidates = Vec::with_capacity(statements.len());
    for words in statements {
        let judge = Judge::of(embedder, models, &words).await?;
        let first = Piece::sentences(&words).into_iter().next();
        let procedural = first.as_ref().is_some_and(|first| judge.is_procedural(first));
        let standing = first.is_some_and(|first| judge.wish(&first).is_some());
        let statement =
            Statement { procedural, standing, words: words.clone(), said: words.clone() };
        candidates.push(candidate(&statement, &words, &models.memorable, said));
    }
    Ok(candidates)
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

fn candidate(statement: &Statement, message: &str, model: &MemorableModel, day: Date) -> Candidate {
    let Statement { words, said, procedural, standing } = statement;
    let memory_type = if *procedural { MemoryType::PROCEDURAL } else { MemoryType::SEMANTIC };
    let content = statement_dates::dated(words, day);
    let ends = ends(&content, model, day);
    let raw = (content != *said).then(|| said.clone());
    let named = names::named(words, message);
    Candidate {
        memory_type: memory_type.to_owned(),
        content,
        raw,
        ends,
        mentions: named.mentions,
        entity_relations: named.relations,
        standing: *standing,
        ..Candidate::default()
    }
}

/// When a plan with a day is over: when that day has ended everywhere on Earth. A statement that surely tells something
/// beside the plan does not end with it.
fn ends(content: &str, model: &MemorableModel, said: Date) -> Option<Timestamp> {
    let last = ending::last_day(content, said)?;
    let clauses = Piece::sentences(content).into_iter().flat_map(|sentence| sentence.clauses());
    let (dated, others): (Vec<_>, Vec<_>) =
        clauses.partition(|clause| ending::last_day(clause.words(), said).is_some());
    if dated.is_empty() || others.iter().any(|clause| model.tells(clause)) {
        return None;
    }
    let westernmost = TimeZone::fixed(offset(-12));
    Some(last.at(23, 59, 59, 0).to_zoned(westernmost).ok()?.timestamp())
}

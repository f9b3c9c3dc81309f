//! Implicit updates: which older sentences a whole message outdates. Rules look at single sentences (`compare`). People
//! often spread a change over a message, and name what has changed by other words than before. So small trained models
//! weigh whether the message announces a change, and what message and sentence have in common and what differs.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    reconcile::{
        error::ReconcileError,
        scope::{Scope, is_older},
        supersede::{Judged, doubt, judged, put_away},
        turn_text::{told_by, user_part},
    },
    turn::StoredTurn,
    writer::MemoryWriter,
};
use memgate_core::memory::{Memory, MemoryType, QueryVector};
use memgate_embed::{Space, model_of};
use memgate_models::Outdated;
use memgate_text::compare::Statement;

/// The most older sentences that a message is compared with: statements, then those of turns, each nearest first.
const COMPARED: usize = 32;

/// The most of them that it puts away.
const MOST: usize = 3;

/// The most statements that it marks as perhaps outdated.
const MOST_DOUBTED: usize = 5;

/// A sentence or statement that a message may put away.
enum Old {
    /// A sentence of a remembered turn.
    Sentence(Memory, String),
    /// A statement of its own.
    Statement(Memory),
}

impl Old {
    fn words(&self) -> &str {
        match self {
            Self::Sentence(_, words) => words,
            Self::Statement(memory) => memory.raw.as_ref().unwrap_or(&memory.content),
        }
    }
}

/// Supersedes what a turn, as a whole, outdates: sentences and statements of earlier sessions. `own` is the turn's memory.
/// Without vectors there is too little to go by.
pub(super) async fn outdate(
    writer: &MemoryWriter,
    own: &Memory,
    turn: &StoredTurn,
    now: Timestamp,
) -> Result<(), ReconcileError> {
    let message = user_part(own).unwrap_or_default();
    // Another model's cosines mean something else to what was trained.
    let known = |space: &Space| writer.models.are_trained_with(space);
    let Some(embedder) = model_of(writer.embedder.as_ref(), known) else { return Ok(()) };
    let model = &writer.models.update;
    let Ok(vectors) = embedder.embed_passages(vec![message.to_owned()]).await else {
        return Ok(());
    };
    let announced = vectors.first().map_or(0.0, |vector| model.announces(message, vector));
    if !model.may_outdate(announced) {
        return Ok(());
    }
    let olds = earlier(writer, own, message, now).await?;
    let mut texts: Vec<String> = Vec::new();
    for old in &olds {
        if !texts.iter().any(|text| text == old.words()) {
            texts.push(old.words().to_owned());
        }
    }
    texts.truncate(COMPARED);
    let Ok(judged) = judged(embedder, model, message, &texts).await else {
        return Ok(());
    };
    let mut found: Vec<(&Judged, &String)> = judged.iter().zip(&texts).collect();
    found.retain(|(judged, _)| judged.outdated != Outdated::No);
    found.sort_by(|(a, _), (b, _)| b.likelihood.total_cmp(&a.likelihood));
    let sure = found.iter().filter(|(judged, _)| judged.outdated == Outdated::Surely).take(MOST);
    let sure: Vec<&str> = sure.map(|(_, text)| text.as_str()).collect();
    let (mut statements, mut said, mut doubted) = (Vec::new(), Vec::new(), Vec::new());
    for old in olds {
        let is_sure = sure.contains(&old.words());
        let is_found = found.iter().any(|(_, text)| *text == old.words());
        match old {
            Old::Sentence(memory, words) if is_sure => said.push((memory, words)),
            Old::Statement(memory) if is_sure => statements.push(memory),
            Old::Statement(memory) if is_found && doubted.len() < MOST_DOUBTED => {
                doubted.push(memory);
            }
            _ => {}
        }
    }
    put_away(writer, own, turn, statements, said, now).await?;
    Ok(doubt(writer, turn, doubted).await?)
}

/// Sentences and statements of earlier sessions that may be about the same. Statements first: sentences are more, and of those
/// that are beyond the most no one is looked at.
async fn earlier(
    writer: &MemoryWriter,
    own: &Memory,
    message: &str,
    now: Timestamp,
) -> Result<Vec<Old>, ReconcileError> {
    let Ok(vectors) = writer.embedder.embed_passages(vec![message.to_owned()]).await else {
        return Ok(Vec::new());
    };
    let space: Arc<str> = writer.embedder.space().id().into();
    let vector = vectors.into_iter().next().map(|values| QueryVector { space, values });
    let scope = Scope::of(own);
    let is_earlier = |memory: &Memory| is_older(memory, own) && memory.session_id != own.session_id;
    let statement = &Statement::of(message);
    let as_fact = Memory { memory_type: MemoryType::new(MemoryType::SEMANTIC), ..own.clone() };
    let statements = scope.statements(writer, &as_fact, statement, vector.as_ref(), now).await?;
    let statements = statements.into_iter().map(|found| found.memory).filter(&is_earlier);
    let mut olds: Vec<Old> = statements.map(Old::Statement).collect();
    for turn in scope.turns(writer, message, statement, vector.as_ref(), now).await? {
        if is_earlier(&turn) {
            let told = told_by(&turn).into_iter().map(str::to_owned);
            olds.extend(told.map(|words| Old::Sentence(turn.clone(), words)).collect::<Vec<_>>());
        }
    }
    Ok(olds)
}

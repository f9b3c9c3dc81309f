//! Implicit updates: which older sentences a whole message outdates. Rules look at single sentences
//! (`compare`). People often spread a change over a message, and name what has changed by other words
//! than before. So a small trained model weighs what message and sentence have in common, what differs,
//! and which words announce a change.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    reconcile::{
        error::ReconcileError,
        scope::{Scope, is_older},
        supersede::put_away,
        turn_text::{told, told_by, user_part},
    },
    turn::StoredTurn,
    writer::MemoryWriter,
};
use memgate_core::memory::{Memory, MemoryType, QueryVector};
use memgate_embed::{EmbedError, Embedder, Space, Vector, dot, model_of};
use memgate_models::{UpdateFeatures, UpdateModel, update_pair::Pair};
use memgate_text::{compare::Statement, sentences::sentences};

/// The most older sentences that a message is compared with: statements, then those of turns, each nearest first.
const COMPARED: usize = 32;

/// The most of them that it puts away.
const MOST: usize = 3;

/// How a message stands to one older sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What was weighed.
    pub features: UpdateFeatures,
    /// How likely the sentence is outdated, 0 to 1; 0 where rules exclude it.
    pub likelihood: f32,
    /// Whether that is enough to let the message hold in its place.
    pub is_outdated: bool,
}

/// What a message may put away.
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

/// Supersedes what a turn, as a whole, outdates: sentences and statements of earlier sessions. `own` is the turn's memory. Without vectors there is too little to go by.
pub(super) async fn outdate(
    writer: &MemoryWriter,
    own: &Memory,
    turn: &StoredTurn,
    now: Timestamp,
) -> Result<(), ReconcileError> {
    let message = user_part(own).unwrap_or_default();
    let statement = Statement::of(message);
    if !statement.tells_of_change() {
        return Ok(());
    }
    // Another model's cosines mean something else to what was trained.
    let known = |space: &Space| writer.models.are_trained_with(space);
    let Some(embedder) = model_of(writer.embedder.as_ref(), known) else { return Ok(()) };
    let olds = earlier(writer, own, message, &statement, now).await?;
    let mut texts: Vec<String> = Vec::new();
    for old in &olds {
        if !texts.iter().any(|text| text == old.words()) {
            texts.push(old.words().to_owned());
        }
    }
    texts.truncate(COMPARED);
    let Ok(judged) = judged(embedder, &writer.models.update, message, &texts).await else {
        return Ok(());
    };
    let mut over: Vec<(f32, &String)> = judged
        .iter()
        .zip(&texts)
        .filter(|(judged, _)| judged.is_outdated)
        .map(|(judged, text)| (judged.likelihood, text))
        .collect();
    over.sort_by(|a, b| b.0.total_cmp(&a.0));
    over.truncate(MOST);
    let (mut statements, mut said) = (Vec::new(), Vec::new());
    for old in olds {
        if !over.iter().any(|(_, text)| *text == old.words()) {
            continue;
        }
        match old {
            Old::Sentence(memory, words) => said.push((memory, words)),
            Old::Statement(memory) => statements.push(memory),
        }
    }
    put_away(writer, own, turn, statements, said, now).await
}

/// What was said in earlier sessions and may be about the same. Statements first: sentences are more, and of those
/// that are beyond the most no one is looked at.
async fn earlier(
    writer: &MemoryWriter,
    own: &Memory,
    message: &str,
    statement: &Statement,
    now: Timestamp,
) -> Result<Vec<Old>, ReconcileError> {
    let Ok(vectors) = writer.embedder.embed_passages(vec![message.to_owned()]).await else {
        return Ok(Vec::new());
    };
    let space: Arc<str> = writer.embedder.space().id().into();
    let vector = vectors.into_iter().next().map(|values| QueryVector { space, values });
    let scope = Scope {
        owner: own.owner.clone(),
        project: own.project_id.clone(),
        agent: own.agent_id.clone(),
    };
    let is_earlier = |memory: &Memory| is_older(memory, own) && memory.session_id != own.session_id;
    let as_fact = Memory { memory_type: MemoryType::new(MemoryType::SEMANTIC), ..own.clone() };
    let statements = scope.statements(writer, &as_fact, statement, vector.as_ref(), now).await?;
    let statements = statements.into_iter().map(|found| found.memory).filter(&is_earlier);
    // One of several sentences may hold on.
    let single = |old: &Old| sentences(old.words()).len() == 1;
    let mut olds: Vec<Old> = statements.map(Old::Statement).filter(single).collect();
    for turn in scope.turns(writer, message, statement, vector.as_ref(), now).await? {
        if is_earlier(&turn) {
            let told = told_by(&turn).into_iter().map(str::to_owned);
            olds.extend(told.map(|words| Old::Sentence(turn.clone(), words)).collect::<Vec<_>>());
        }
    }
    Ok(olds)
}

/// Judges a message beside older sentences, all of which are embedded.
///
/// # Errors
/// [`EmbedError`] of the embedder.
pub async fn judged(
    embedder: &dyn Embedder,
    model: &UpdateModel,
    message: &str,
    olds: &[String],
) -> Result<Vec<Judged>, EmbedError> {
    let parts = told(message);
    if parts.is_empty() || olds.is_empty() {
        let features = UpdateFeatures::default();
        let nothing = Judged { features, likelihood: 0.0, is_outdated: model.is_enough(0.0) };
        return Ok(vec![nothing; olds.len()]);
    }
    let texts = parts.iter().copied().chain([message]).map(str::to_owned);
    let vectors = embedder.embed_passages(texts.chain(olds.iter().cloned()).collect()).await?;
    let (own, others) = vectors.split_at(parts.len() + 1);
    let best: Vec<f32> = others.iter().map(|other| best(own, other)).collect();
    let message = Statement::of(message);
    let parts: Vec<Statement> = parts.into_iter().map(Statement::of).collect();
    let olds: Vec<Statement> = olds.iter().map(|old| Statement::of(old)).collect();
    let mut pairs: Vec<Pair<'_>> = Vec::with_capacity(olds.len());
    for (at, old) in olds.iter().enumerate() {
        let near = |part: &usize| dot(&own[*part], &others[at]);
        let nearest = (0..parts.len()).max_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0);
        let (nearest, cosine) = (&parts[nearest], best[at]);
        pairs.push(Pair { message: &message, nearest, old, cosine, rank: 0 });
    }
    // What cannot be meant stands in nobody's way.
    let meant: Vec<f32> =
        pairs.iter().filter(|pair| !pair.is_excluded()).map(|pair| pair.cosine).collect();
    for pair in &mut pairs {
        pair.rank = meant.iter().filter(|cosine| **cosine > pair.cosine).count();
    }
    let judge = |pair: &Pair<'_>| {
        let likelihood = pair.likelihood(model);
        Judged { features: pair.features(), likelihood, is_outdated: model.is_enough(likelihood) }
    };
    Ok(pairs.iter().map(judge).collect())
}

fn best(own: &[Vector], other: &Vector) -> f32 {
    own.iter().map(|own| dot(own, other)).fold(f32::MIN, f32::max)
}

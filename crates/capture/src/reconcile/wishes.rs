//! A wish about every answer replaces the user's earlier wishes and preferences about the same thing: "bullets for everything",
//! "ok back to paragraphs".

use crate::{
    preferences::standing_of,
    reconcile::{context::Context, error::ReconcileError, scope::is_older},
};
use memgate_core::memory::{Memory, PreferenceKey, QueryVector, Status};
use memgate_embed::dot;

/// The least cosine of two wishes about the same thing, of vectors less the mean of many. Of the 39 pairs of
/// testdata/messages/kept/taken-back.jsonl it joins 87%, and 7% of pairs that belong to different ones; .23 joins 95 and 11%,
/// .3 joins 69 and 4%.
const SAME: f32 = 0.26;

/// Wishes that a new one is compared with, the newest.
const MOST: usize = 16;

/// The earlier wishes that a stored one replaces, in its project or in none. Without a vector that the models know, none.
pub(super) async fn replaced_wishes(
    context: &Context<'_>,
    winner: &Memory,
    vector: Option<&QueryVector>,
) -> Result<Vec<Memory>, ReconcileError> {
    let (writer, now) = (context.writer, context.now);
    let known = writer.models.are_trained_with(writer.embedder.space());
    let Some(vector) = vector.filter(|_| known && winner.is_wish_for_every_answer()) else {
        return Ok(Vec::new());
    };
    let (store, project) = (writer.store.as_ref(), winner.project_id.as_deref());
    let in_use = [Status::Active, Status::Review];
    let mut older = standing_of(store, &winner.owner, project, &in_use, now).await?;
    older.retain(|memory| is_about_answers(memory) && is_older(memory, winner));
    older.truncate(MOST);
    // In the user's words: a preference's content is in fixed ones.
    let words = |memory: &Memory| memory.raw.as_ref().unwrap_or(&memory.content).clone();
    let contents = older.iter().map(words).collect();
    let vectors = writer.embedder.embed_passages(contents).await?;
    let new = writer.models.update.centred(&vector.values);
    let same = |old: &[f32]| dot(&writer.models.update.centred(old), &new) >= SAME;
    let pairs = older.into_iter().zip(vectors);
    Ok(pairs.filter(|(_, old)| same(old)).map(|(memory, _)| memory).collect())
}

/// Whether a memory says how to answer. What the user is called is no such thing.
fn is_about_answers(memory: &Memory) -> bool {
    memory.is_wish_for_every_answer()
        || memory.preference().is_some_and(|it| it.key() != PreferenceKey::Name)
}

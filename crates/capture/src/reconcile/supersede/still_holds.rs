//! The clauses of a statement that still hold when another one is outdated: "I work in Leeds, my boss is Ann" after
//! "Tom is our boss now".

use crate::{reconcile::turn_text::user_part, writer::MemoryWriter};
use memgate_core::memory::Memory;
use memgate_embed::model_of;
use memgate_models::Outdated;
use memgate_text::pieces::Piece;

use super::{
    clauses::{clauses, left_of},
    judged::judged,
};

/// The clauses of a superseded statement that its winner does not outdate. `None` where all of them are outdated, where none
/// of the others is worth keeping alone, and without vectors, which tell which is which.
pub(super) async fn still_holds(
    writer: &MemoryWriter,
    old: &Memory,
    winner: &Memory,
) -> Option<String> {
    let models = &writer.models;
    let clauses = clauses(&old.content, &models.memorable);
    if clauses.len() < 2 {
        return None;
    }
    let embedder = model_of(writer.embedder.as_ref(), |space| models.are_trained_with(space))?;
    let message = user_part(winner).unwrap_or(&winner.content);
    let texts: Vec<String> = clauses.iter().map(|clause| clause.words().to_owned()).collect();
    let judged = judged(embedder, &models.update, message, &texts).await.ok()?;
    let likelihoods = judged.iter().map(|judged| judged.likelihood);
    let highest = likelihoods.fold(0.0, f32::max);
    let judged = clauses.into_iter().zip(&judged);
    let (over, held): (Vec<_>, Vec<_>) = judged.partition(|(_, judged)| {
        judged.outdated == Outdated::Surely || judged.likelihood >= highest
    });
    let held: Vec<Piece<'_>> = held.into_iter().map(|(clause, _)| clause).collect();
    if over.is_empty() { None } else { left_of(&held, &models.memorable) }
}

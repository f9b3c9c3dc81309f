//! The clauses of a statement that still hold when another one is outdated: "I work in Leeds, my boss is Ann" after
//! "Tom is our boss now".

use crate::{reconcile::turn_text::user_part, writer::MemoryWriter};
use memgate_core::memory::Memory;
use memgate_embed::model_of;
use memgate_models::{Clause, Outdated};
use memgate_text::{
    alone::{is_short, without_joining},
    normal::{is_cjk, one_line},
    pieces::Piece,
};

use super::judged::judged;

/// The clauses of a superseded statement that its winner does not outdate. `None` where all of them are outdated, where none
/// of the others is worth keeping alone, and without vectors, which tell which is which.
pub(super) async fn still_holds(
    writer: &MemoryWriter,
    old: &Memory,
    winner: &Memory,
) -> Option<String> {
    let models = &writer.models;
    let tells = |clause: &Piece<'_>| models.memorable.clause(clause) == Clause::Statement;
    let sentences = Piece::sentences(&old.content);
    let clauses = sentences.iter().flat_map(Piece::clauses);
    let clauses: Vec<Piece<'_>> = clauses.flat_map(|clause| in_two(clause, tells)).collect();
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
    if over.is_empty() || !held.iter().any(tells) {
        return None;
    }
    let rest = one_line(without_joining(&joined(&held)));
    (!is_short(&rest)).then_some(rest)
}

/// A clause, or what a word joins in it where both sides tell something: "we use Postgres and deploy on Fridays".
fn in_two<'a>(clause: Piece<'a>, tells: impl Fn(&Piece<'_>) -> bool) -> Vec<Piece<'a>> {
    let found = clause.sides().find(|(left, right)| tells(left) && tells(right));
    found.map_or(vec![clause], |(left, right)| vec![left, right])
}

/// Clauses as one text. Those that stood beside each other keep what parted them.
fn joined(clauses: &[Piece<'_>]) -> String {
    let mut runs: Vec<Piece<'_>> = Vec::new();
    for clause in clauses {
        match runs.last_mut() {
            Some(run) if !clause_between(run, clause) => *run = run.to(clause),
            _ => runs.push(clause.clone()),
        }
    }
    let runs: Vec<&str> = runs.iter().map(Piece::words).collect();
    let comma = if runs.iter().any(|run| run.chars().any(is_cjk)) { "，" } else { ", " };
    runs.join(comma)
}

/// Whether there are words between two pieces of a message.
fn clause_between(first: &Piece<'_>, second: &Piece<'_>) -> bool {
    let between =
        &first.message()[first.before().len() + first.words().len()..second.before().len()];
    between.chars().any(char::is_alphanumeric)
}

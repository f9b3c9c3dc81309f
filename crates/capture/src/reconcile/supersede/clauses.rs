//! Clauses of a text, for what is left of it when some of them go.

use memgate_models::MemorableModel;
use memgate_text::{
    alone::{is_short, without_joining},
    normal::{is_cjk, one_line},
    pieces::Piece,
};

/// The clauses of a text, each in two where a word joins what tells something on both sides: "we use Postgres and deploy on
/// Fridays".
pub(crate) fn clauses<'a>(text: &'a str, model: &MemorableModel) -> Vec<Piece<'a>> {
    let clauses = Piece::sentences(text).into_iter().flat_map(|sentence| sentence.clauses());
    clauses.flat_map(|clause| in_two(clause, model)).collect()
}

fn in_two<'a>(clause: Piece<'a>, model: &MemorableModel) -> Vec<Piece<'a>> {
    let found = clause.sides().find(|(left, right)| model.tells(left) && model.tells(right));
    found.map_or(vec![clause], |(left, right)| vec![left, right])
}

/// The clauses that are left, as a text of its own; `None` where that tells nothing.
pub(crate) fn left_of(held: &[Piece<'_>], model: &MemorableModel) -> Option<String> {
    if !held.iter().any(|clause| model.tells(clause)) {
        return None;
    }
    let rest = one_line(without_joining(&joined(held)));
    (!is_short(&rest)).then_some(rest)
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

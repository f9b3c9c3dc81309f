//! The memories that one replaces, and what then becomes of both.

use jiff::Timestamp;

use crate::{
    candidate::Candidate,
    reconcile::{
        context::Context,
        error::{Outcome, ReconcileError},
        scope::{Scope, is_older},
        supersede::{leave_out, supersede},
        turn_text::told_by,
        wishes::replaced_wishes,
    },
    settings::Policy,
    trail::TurnEvent,
    writer::MemoryWriter,
};
use memgate_core::memory::{Evidence, Memory, QueryVector, Relation, Source, Status, StoreError};
use memgate_embed::{Vector, dot};
use memgate_text::compare::{Mark, Statement, Verdict, compare, may_replace};

/// The most that one statement replaces: a statement on one thing is in the way of few others.
const MOST: usize = 8;

/// The most sentences of turns that one statement is compared with.
const SENTENCES: usize = 32;

/// The memories that a statement replaces.
#[derive(Debug, Default)]
pub(super) struct Replaced {
    /// Statements of their own.
    pub(super) statements: Vec<Memory>,
    /// Sentences of remembered turns, each with its turn.
    pub(super) sentences: Vec<(Memory, String)>,
}

impl Replaced {
    fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.sentences.is_empty()
    }
}

/// Finds the memories that a stored statement replaces, among the statements found and the turns of its scope.
pub(super) async fn replaced(
    context: &Context<'_>,
    scope: &Scope,
    candidate: &Candidate,
    winner: &Memory,
    statement: &Statement,
    found: &[Evidence],
    vector: Option<&QueryVector>,
) -> Result<Replaced, ReconcileError> {
    let mut replaced = Replaced::default();
    for found in found.iter().filter(|found| is_older(&found.memory, winner)) {
        let verdict = compare(statement, &Statement::of(&found.memory.content), found.cosine);
        if verdict == Verdict::Replaces {
            replaced.statements.push(found.memory.clone());
        }
    }
    if let Some(words) = &candidate.corrects {
        let named = scope.corrected(context.writer, words, context.now).await?;
        let named = named.filter(|named| is_older(named, winner));
        replaced.statements.extend(named.filter(|m| !has(&replaced.statements, m)));
    }
    let wishes = replaced_wishes(context, winner, vector).await?;
    replaced
        .statements
        .extend(wishes.into_iter().filter(|m| !has(&replaced.statements, m)).collect::<Vec<_>>());
    replaced.statements.truncate(MOST);
    if may_replace(statement) {
        let text = &winner.content;
        replaced.sentences = sentences_in_the_way(
            context.writer,
            scope,
            text,
            statement,
            vector,
            context.now,
            winner,
        )
        .await?;
    }
    Ok(replaced)
}

/// Gives the contradicting memories the status that the policy wants.
pub(super) async fn apply(
    context: &Context<'_>,
    mut winner: Memory,
    replaced: Replaced,
) -> Result<(), ReconcileError> {
    if replaced.is_empty() {
        return Ok(());
    }
    let targets = replaced.statements.iter().chain(replaced.sentences.iter().map(|(t, _)| t));
    let targets: Vec<_> = targets.map(|memory| memory.id.clone()).collect();
    let (kind, status) = match context.policy {
        Policy::PreferNew => (Relation::SUPERSEDES, Status::Active),
        Policy::PreferOld => (Relation::CONTRADICTS, Status::Superseded),
        // Nobody can decide on a contradiction that only a turn states.
        Policy::Review if replaced.statements.is_empty() => return Ok(()),
        Policy::Review => (Relation::CONTRADICTS, Status::Review),
    };
    let first = targets.first().cloned();
    let links = targets.into_iter().map(|target| Relation::new(kind, target));
    let known = winner.relations.len();
    for link in links {
        if !winner.relations.contains(&link) {
            winner.relations.push(link);
        }
    }
    let corrected =
        kind == Relation::SUPERSEDES && Statement::of(&winner.content).says(Mark::Correct);
    let source = if corrected { Source::CorrectedMemory } else { winner.source };
    if winner.relations.len() != known || winner.status != status || winner.source != source {
        (winner.status, winner.source) = (status, source);
        if let (Policy::PreferOld, Some(old)) = (context.policy, first) {
            winner.supersede(&old);
            winner.valid_until = winner.valid_from;
        }
        winner = rewrite(context, winner, "contradicts").await?;
    }
    match context.policy {
        Policy::PreferNew => {
            for old in replaced.statements {
                context.note(TurnEvent::superseded("statement", &old.id, &winner.id));
                supersede(context.writer, old, &winner, &context.write("superseded")).await?;
            }
            for (turn, words) in replaced.sentences {
                context.note(TurnEvent::superseded("turn", &turn.id, &winner.id));
                leave_out(context.writer, &turn, &words, &winner, &context.write("superseded"))
                    .await?;
            }
        }
        Policy::PreferOld => {
            context.writer.metrics.reconciled(Outcome::Superseded);
            context.say_no_longer(&winner).await?;
        }
        Policy::Review => {
            context.writer.metrics.reconciled(Outcome::Review);
            for old in replaced.statements {
                if old.status != Status::Review {
                    rewrite(context, Memory { status: Status::Review, ..old }, "contradicted")
                        .await?;
                }
            }
        }
    }
    Ok(())
}

async fn rewrite(
    context: &Context<'_>,
    memory: Memory,
    reason: &'static str,
) -> Result<Memory, StoreError> {
    let memory = Memory { updated_at: context.now, ..memory };
    context.writer.store.update(memory, None, &context.write(reason)).await
}

/// Sentences of remembered turns that a statement replaces.
pub(super) async fn sentences_in_the_way(
    writer: &MemoryWriter,
    scope: &Scope,
    text: &str,
    statement: &Statement,
    vector: Option<&QueryVector>,
    now: Timestamp,
    winner: &Memory,
) -> Result<Vec<(Memory, String)>, ReconcileError> {
    let turns = scope.turns(writer, text, statement, vector, now).await?;
    let mut said: Vec<(&Memory, &str)> = Vec::new();
    for turn in turns.iter().filter(|turn| is_older(turn, winner)) {
        said.extend(told_by(turn).into_iter().map(|sentence| (turn, sentence)));
    }
    said.truncate(SENTENCES);
    let texts: Vec<String> = said.iter().map(|(_, sentence)| (*sentence).to_owned()).collect();
    let vectors: Vec<Option<Vector>> = match vector {
        Some(_) => match writer.embedder.embed_passages(texts).await {
            Ok(vectors) => vectors.into_iter().map(Some).collect(),
            Err(_) => vec![None; said.len()],
        },
        None => vec![None; said.len()],
    };
    let mut replaced = Vec::new();
    for ((turn, sentence), values) in said.into_iter().zip(vectors) {
        let cosine = values.zip(vector).map(|(a, b)| dot(&a, &b.values));
        if compare(statement, &Statement::of(sentence), cosine) == Verdict::Replaces {
            replaced.push((turn.clone(), sentence.to_owned()));
        }
    }
    replaced.truncate(MOST);
    Ok(replaced)
}

fn has(memories: &[Memory], memory: &Memory) -> bool {
    memories.iter().any(|known| known.id == memory.id)
}

//! What a memory replaces, and what then becomes of both.

use super::{
    Batch, Policy, Scope,
    compare::{Saying, Stand, compare, may_replace},
    corrections, said_at, turns,
};
use crate::{
    capture::{
        extract::{self, candidate::Candidate},
        keep::Keeper,
        sayings::sayings,
        work::JobError,
    },
    embed::{Vector, dot},
    memory::{
        Evidence, Memory, MemoryId, QueryVector, Relation, Source, Status, StoreError, Write,
    },
    telemetry::Reconciled as Outcome,
};

/// The link from a memory to the one in whose place it holds.
const SUPERSEDES: &str = "supersedes";

/// The link between two memories of which one cannot hold, and nobody has decided.
const CONTRADICTS: &str = "contradicts";

/// The most that one statement replaces: a statement on one thing is in the way of few others.
const MOST: usize = 8;

/// The most sentences of turns that one statement is compared with.
const SENTENCES: usize = 32;

/// What a statement replaces.
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

impl Batch<'_> {
    /// What a stored statement replaces, among the statements found and the turns of its scope.
    pub(super) async fn replaced(
        &self,
        scope: &Scope,
        candidate: &Candidate,
        winner: &Memory,
        saying: &Saying,
        found: &[Evidence],
        vector: Option<&QueryVector>,
    ) -> Result<Replaced, JobError> {
        let mut replaced = Replaced::default();
        for found in found.iter().filter(|found| is_older(&found.memory, winner)) {
            let stand = compare(saying, &Saying::of(&found.memory.content), found.cosine);
            if stand == Stand::Replaces {
                replaced.statements.push(found.memory.clone());
            }
        }
        if let Some(words) = &candidate.corrects {
            let named = corrections::named(self.keeper, scope, words, self.now).await?;
            let named = named.filter(|named| is_older(named, winner));
            replaced.statements.extend(named.filter(|m| !has(&replaced.statements, m)));
        }
        replaced.statements.truncate(MOST);
        if may_replace(saying) {
            let text = &winner.content;
            replaced.sentences =
                sentences_in_the_way(self.keeper, scope, text, saying, vector, self.now, winner)
                    .await?;
        }
        Ok(replaced)
    }

    /// Gives the contradicting memories the status that the policy wants.
    pub(super) async fn apply(
        &mut self,
        mut winner: Memory,
        replaced: Replaced,
    ) -> Result<(), JobError> {
        if replaced.is_empty() {
            return Ok(());
        }
        let targets = replaced.statements.iter().chain(replaced.sentences.iter().map(|(t, _)| t));
        let targets: Vec<_> = targets.map(|memory| memory.id.clone()).collect();
        let (kind, status) = match self.policy {
            Policy::PreferNew => (SUPERSEDES, Status::Active),
            Policy::PreferOld => (CONTRADICTS, Status::Superseded),
            // What only a turn says is nothing that somebody could decide on.
            Policy::Review if replaced.statements.is_empty() => return Ok(()),
            Policy::Review => (CONTRADICTS, Status::Review),
        };
        let links = targets.into_iter().map(|target| Relation { kind: kind.to_owned(), target });
        let known = winner.relations.len();
        for link in links {
            if !winner.relations.contains(&link) {
                winner.relations.push(link);
            }
        }
        let corrected = kind == SUPERSEDES && Saying::of(&winner.content).says("correct");
        let source = if corrected { Source::CorrectedMemory } else { winner.source };
        if winner.relations.len() != known || winner.status != status || winner.source != source {
            (winner.status, winner.source) = (status, source);
            if self.policy == Policy::PreferOld {
                winner.valid_until = winner.valid_from;
            }
            winner = self.rewrite(winner, "contradicts").await?;
        }
        match self.policy {
            Policy::PreferNew => {
                for old in replaced.statements {
                    supersede(self.keeper, old, &winner, &self.write("superseded")).await?;
                }
                for (turn, words) in replaced.sentences {
                    leave_out(self.keeper, &turn, &words, &winner, &self.write("superseded"))
                        .await?;
                }
            }
            Policy::PreferOld => {
                self.keeper.metrics.reconciled(Outcome::Superseded);
                self.say_no_longer(&winner).await?;
            }
            Policy::Review => {
                self.keeper.metrics.reconciled(Outcome::Review);
                for old in replaced.statements {
                    if old.status != Status::Review {
                        self.rewrite(Memory { status: Status::Review, ..old }, "contradicted")
                            .await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes a memory's words out of the turn that it was taken from.
    pub(super) async fn say_no_longer(&self, memory: &Memory) -> Result<(), JobError> {
        Ok(say_no_longer(self.keeper, memory, memory, &self.write("superseded")).await?)
    }

    async fn rewrite(&self, memory: Memory, reason: &'static str) -> Result<Memory, JobError> {
        let memory = Memory { updated_at: self.now, ..memory };
        Ok(self.keeper.store.update(memory, None, &self.write(reason)).await?)
    }
}

/// Sentences of remembered turns that a statement replaces.
pub(super) async fn sentences_in_the_way(
    keeper: &Keeper,
    scope: &Scope,
    text: &str,
    saying: &Saying,
    vector: Option<&QueryVector>,
    now: jiff::Timestamp,
    winner: &Memory,
) -> Result<Vec<(Memory, String)>, JobError> {
    let turns = scope.turns(keeper, text, saying, vector, now).await?;
    let mut said: Vec<(&Memory, &str)> = Vec::new();
    for turn in turns.iter().filter(|turn| is_older(turn, winner)) {
        said.extend(turns::told(turn).into_iter().map(|sentence| (turn, sentence)));
    }
    said.truncate(SENTENCES);
    let texts: Vec<String> = said.iter().map(|(_, sentence)| (*sentence).to_owned()).collect();
    let vectors: Vec<Option<Vector>> = match vector {
        Some(_) => match keeper.embedder.embed_passages(texts).await {
            Ok(vectors) => vectors.into_iter().map(Some).collect(),
            Err(_) => vec![None; said.len()],
        },
        None => vec![None; said.len()],
    };
    let mut replaced = Vec::new();
    for ((turn, sentence), values) in said.into_iter().zip(vectors) {
        let cosine = values.zip(vector).map(|(a, b)| dot(&a, &b.values));
        if compare(saying, &Saying::of(sentence), cosine) == Stand::Replaces {
            replaced.push((turn.clone(), sentence.to_owned()));
        }
    }
    replaced.truncate(MOST);
    Ok(replaced)
}

/// Puts a memory away because of another, and its words in the turn that it was taken from.
pub(super) async fn supersede(
    keeper: &Keeper,
    old: Memory,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    say_no_longer(keeper, &old, winner, write).await?;
    let old = Memory {
        status: Status::Superseded,
        valid_until: Some(winner.valid_from.unwrap_or_else(|| said_at(winner))),
        updated_at: winner.updated_at,
        ..old
    };
    keeper.store.update(old, None, write).await?;
    keeper.metrics.reconciled(Outcome::Superseded);
    Ok(())
}

/// Takes the words of a memory out of the turns that said them.
async fn say_no_longer(
    keeper: &Keeper,
    memory: &Memory,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let words = memory.raw.as_ref().unwrap_or(&memory.content);
    for said in sayings(memory) {
        let id = extract::turns::id_of(&memory.owner, &said.turn);
        leave_out_of(keeper, &id, words, winner, write).await?;
        let session = said.session.as_deref();
        leave_out_of_summary(keeper, memory, session, words, winner, write).await?;
    }
    Ok(())
}

/// The same of the summary of a session, in the scope of a memory.
async fn leave_out_of_summary(
    keeper: &Keeper,
    memory: &Memory,
    session: Option<&str>,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let Some(session) = session else { return Ok(()) };
    let (project, agent) = (memory.project_id.as_deref(), memory.agent_id.as_deref());
    let id = extract::summary::id_of(&memory.owner, session, project, agent);
    leave_out_of(keeper, &id, words, winner, write).await
}

/// Lets a turn's memory, and the summary of its session, say these words no longer.
pub(super) async fn leave_out(
    keeper: &Keeper,
    turn: &Memory,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    leave_out_of(keeper, &turn.id, words, winner, write).await?;
    leave_out_of_summary(keeper, turn, turn.session_id.as_deref(), words, winner, write).await
}

/// The new version of a memory of turns that does not say these words.
async fn leave_out_of(
    keeper: &Keeper,
    id: &MemoryId,
    words: &str,
    winner: &Memory,
    write: &Write,
) -> Result<(), StoreError> {
    let turn = match keeper.store.get(&winner.owner, id, winner.updated_at).await {
        Err(StoreError::NotFound) => return Ok(()),
        found => found?,
    };
    let Some(mut left) = turns::without(&turn, words).filter(|_| turn.status.is_in_use()) else {
        return Ok(());
    };
    left.updated_at = winner.updated_at.max(turn.updated_at);
    if left.status == Status::Superseded {
        left.valid_until = winner.valid_from;
        keeper.store.update(left, None, write).await?;
    } else {
        let parts = extract::turns::parts_of(&left);
        // Vectors that could not be made are made later.
        let _ = keeper.replace(left, parts, write).await?;
    }
    keeper.metrics.reconciled(Outcome::Outdated);
    Ok(())
}

/// Whether a memory was said before another, in another message.
pub(super) fn is_older(old: &Memory, new: &Memory) -> bool {
    let other_turn = old.provenance.turn.is_none() || old.provenance.turn != new.provenance.turn;
    let (before, after) = (said_at(old), said_at(new));
    old.id != new.id && (before < after || (before == after && other_turn))
}

fn has(memories: &[Memory], memory: &Memory) -> bool {
    memories.iter().any(|known| known.id == memory.id)
}

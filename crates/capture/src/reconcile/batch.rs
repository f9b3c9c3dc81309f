//! A batch of candidates on its way into the store.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    candidate::{Candidate, Tense},
    reconcile::{
        context::Context,
        error::{Outcome, ReconcileError},
        origin::Origin,
        reinforce, relations,
        replace::{apply, replaced},
        scope::{Scope, is_older, said_at},
    },
    settings::Policy,
    trail::{Became, TurnEvent},
    writer::{MemoryWriter, Written},
};
use memgate_core::memory::{Evidence, Memory, MemoryId, QueryVector, Source, StoreError};
use memgate_embed::Vector;
use memgate_text::compare::{Mark, Statement, Verdict, compare};

/// Cosine above which what replaces a memory of the same type is its new version, and no memory of
/// its own; the main design's figure.
const SAME_MEMORY: f32 = 0.9;

/// The trail's name of a candidate.
const STATEMENT: &str = "statement";

/// The result of a batch of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reconciled {
    pub(crate) stored: u64,
    pub(crate) without_vectors: bool,
}

/// Brings candidates into the store, one after the other, so that a later one meets the earlier.
/// Doing it again changes nothing.
pub(crate) async fn reconcile(
    writer: &MemoryWriter,
    policy: Policy,
    origin: &Origin,
    candidates: &[Candidate],
    now: Timestamp,
) -> Result<Reconciled, ReconcileError> {
    let contents = candidates.iter().map(|c| c.content.clone()).collect();
    let vectors: Vec<Option<Vector>> = match writer.embedder.embed_passages(contents).await {
        Ok(vectors) => vectors.into_iter().map(Some).collect(),
        // Without vectors the same thing could not be told from another.
        Err(error) if origin.extractor.waits_for_vectors => return Err(error.into()),
        Err(_) => vec![None; candidates.len()],
    };
    let space: Arc<str> = writer.embedder.space().id().into();
    let context = Context { writer, policy, origin, now };
    let mut batch = Batch { context, kept: Vec::new(), done: Reconciled::default() };
    for (candidate, values) in candidates.iter().zip(vectors) {
        let vector = values.map(|values| QueryVector { space: space.clone(), values });
        batch.settle(candidate, vector.as_ref()).await?;
    }
    Ok(batch.done)
}

/// The candidates of one batch on their way into the store.
struct Batch<'a> {
    context: Context<'a>,
    /// The memories that the batch has led to.
    kept: Vec<MemoryId>,
    done: Reconciled,
}

impl Batch<'_> {
    async fn settle(
        &mut self,
        candidate: &Candidate,
        vector: Option<&QueryVector>,
    ) -> Result<(), ReconcileError> {
        let Context { writer, origin, now, .. } = self.context;
        let mut new = origin.memory_of(candidate, now);
        let statement = Statement::of(&new.content);
        let scope = Scope::of(&new);
        let found = scope.statements(writer, &new, &statement, vector, now).await?;
        let winner = match writer.store.get(&new.owner, &new.id, now).await {
            // An earlier run stored it. A memory that has replaced it since holds.
            Ok(own) if !own.status.is_in_use() || own.content != new.content => {
                self.context.note(TurnEvent::of(Became::Merged, STATEMENT, &own.id));
                return Ok(());
            }
            Ok(own) => own,
            Err(StoreError::NotFound) => {
                match self.known(&new, &statement, &found).await? {
                    Some(own) if own.content == new.content && is_of(&own, &new) => {
                        // Its new version; an earlier run may have got no further.
                        return self
                            .replace(&scope, candidate, own, &statement, &found, vector)
                            .await;
                    }
                    Some(_) => return Ok(()),
                    None => {}
                }
                if statement.says(Mark::Correct) && new.source == Source::ExplicitUserInput {
                    new.source = Source::CorrectedMemory;
                }
                new.relations = relations::of(writer, &new, &self.kept, now).await?;
                if let Some(newer) = self.newer_in_place(&new, &statement, &found) {
                    new.supersede(&newer.id);
                    new.valid_until = Some(said_at(newer));
                    let outdated = TurnEvent {
                        by: Some(newer.id.clone()),
                        ..TurnEvent::of(Became::Outdated, STATEMENT, &new.id)
                    };
                    self.create(new.clone(), Outcome::Superseded).await?;
                    self.context.note(outdated);
                    return Ok(self.context.say_no_longer(&new).await?);
                }
                match self.next_version(&new, candidate, &statement, &found).await? {
                    Some(version) => version,
                    None => self.create(new, Outcome::Created).await?,
                }
            }
            Err(error) => return Err(error.into()),
        };
        self.kept.push(winner.id.clone());
        self.replace(&scope, candidate, winner, &statement, &found, vector).await
    }

    /// Supersedes the memories that this one replaces.
    async fn replace(
        &mut self,
        scope: &Scope,
        candidate: &Candidate,
        winner: Memory,
        statement: &Statement,
        found: &[Evidence],
        vector: Option<&QueryVector>,
    ) -> Result<(), ReconcileError> {
        // A statement about the past supersedes nothing.
        if candidate.tense == Some(Tense::Past) {
            return Ok(());
        }
        let context = &self.context;
        let replaced =
            replaced(context, scope, candidate, &winner, statement, found, vector).await?;
        apply(context, winner, replaced).await
    }

    /// The stored memory that says the same: reinforced, or as a new version that says more.
    async fn known(
        &mut self,
        new: &Memory,
        statement: &Statement,
        found: &[Evidence],
    ) -> Result<Option<Memory>, ReconcileError> {
        let verdict = |found: &Evidence| {
            compare(statement, &Statement::of(&found.memory.content), found.cosine)
        };
        let same = found.iter().find(|found| verdict(found) == Verdict::Same);
        // The other way round: what is stored says all of it, and more.
        let within = |found: &&Evidence| {
            compare(&Statement::of(&found.memory.content), statement, found.cosine) == Verdict::More
        };
        if let Some(known) = same.or_else(|| found.iter().find(within)) {
            let words = new.raw.as_ref().unwrap_or(&new.content);
            if let Some(again) = reinforce::reinforced(&known.memory, self.context.origin, words) {
                self.context.writer.store.amend(again.memory).await?;
                if again.counts {
                    self.context.writer.metrics.reconciled(Outcome::Reinforced);
                }
            }
            self.kept.push(known.memory.id.clone());
            self.context.note(TurnEvent::of(Became::Merged, STATEMENT, &known.memory.id));
            return Ok(Some(known.memory.clone()));
        }
        let fuller = found.iter().find(|found| {
            verdict(found) == Verdict::More
                && found.memory.memory_type == new.memory_type
                && said_at(&found.memory) <= said_at(new)
        });
        let Some(fuller) = fuller else { return Ok(None) };
        let version = self.version_of(&fuller.memory, new).await?;
        self.kept.push(version.id.clone());
        Ok(Some(version))
    }

    /// The stored memory that replaces this one and was said later: this one's turn was learned late.
    fn newer_in_place<'f>(
        &self,
        new: &Memory,
        statement: &Statement,
        found: &'f [Evidence],
    ) -> Option<&'f Memory> {
        let newer = found.iter().filter(|found| said_at(&found.memory) > said_at(new));
        let mut newer = newer.filter(|found| {
            compare(&Statement::of(&found.memory.content), statement, found.cosine)
                == Verdict::Replaces
        });
        newer.next().map(|found| &found.memory)
    }

    /// The new version of a memory that says nearly the same of another value.
    async fn next_version(
        &mut self,
        new: &Memory,
        candidate: &Candidate,
        statement: &Statement,
        found: &[Evidence],
    ) -> Result<Option<Memory>, ReconcileError> {
        let nearest = found.iter().find(|found| {
            self.context.policy == Policy::PreferNew
                && candidate.tense != Some(Tense::Past)
                && is_older(&found.memory, new)
                && found.cosine.is_some_and(|cosine| cosine > SAME_MEMORY)
                && found.memory.memory_type == new.memory_type
                && compare(statement, &Statement::of(&found.memory.content), found.cosine)
                    == Verdict::Replaces
        });
        let Some(nearest) = nearest else { return Ok(None) };
        self.context.say_no_longer(&nearest.memory).await?;
        self.version_of(&nearest.memory, new).await.map(Some)
    }

    async fn version_of(&mut self, old: &Memory, new: &Memory) -> Result<Memory, ReconcileError> {
        let mut version = Memory {
            kind: new.kind,
            content: new.content.clone(),
            reply: None,
            raw: new.raw.clone(),
            source: new.source,
            sub_type: new.sub_type.clone().or_else(|| old.sub_type.clone()),
            structured: new.structured.clone(),
            importance: new.importance.max(old.importance),
            confidence: new.confidence,
            event_time: new.event_time,
            valid_from: new.valid_from,
            valid_until: new.valid_until,
            session_id: new.session_id.clone(),
            relations: relations::joined(&old.relations, &new.relations),
            mentions: new.mentions.clone(),
            entity_relations: new.entity_relations.clone(),
            provenance: new.provenance.clone(),
            updated_at: self.context.now,
            ..old.clone()
        };
        version.set_may_have_changed(None);
        let passages = vec![version.content.clone()];
        let write = self.context.write("fact");
        let (stored, written) = self.context.writer.replace(version, passages, &write).await?;
        self.note(written, Outcome::Updated);
        self.context.note(TurnEvent::of(Became::Updated, STATEMENT, &stored.id));
        Ok(stored)
    }

    async fn create(&mut self, memory: Memory, outcome: Outcome) -> Result<Memory, ReconcileError> {
        let passages = vec![memory.content.clone()];
        let write = self.context.write("fact");
        let (stored, written) = self.context.writer.create(memory, passages, &write).await?;
        self.note(written, outcome);
        if outcome == Outcome::Created {
            self.context.note(TurnEvent::of(Became::Kept, STATEMENT, &stored.id));
        }
        Ok(stored)
    }

    fn note(&mut self, written: Written, outcome: Outcome) {
        self.done.stored += 1;
        self.done.without_vectors |= written == Written::WithoutVectors;
        self.context.writer.metrics.reconciled(outcome);
    }
}

/// Whether a memory was made of the same words of the same turn as another.
fn is_of(memory: &Memory, new: &Memory) -> bool {
    memory.provenance.turn == new.provenance.turn
        && memory.provenance.extractor == new.provenance.extractor
}

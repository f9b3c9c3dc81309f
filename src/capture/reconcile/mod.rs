//! Candidates against what is stored. The same again reinforces what is there; with more to tell
//! it is a new version; what holds in the place of something older supersedes it; everything else
//! stands beside it. Nothing is lost: versions stay in the history, and what is superseded stays
//! stored, with the time until which it held.
//!
//! It is the one way in for candidates, whoever found them. It must never know how they were found,
//! nor how a store keeps things.

mod compare;
mod corrections;
mod later;
mod origin;
mod policy;
mod reinforce;
mod relations;
mod remarks;
mod replace;
mod stored;
mod turns;

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    extract::candidate::{Candidate, Tense},
    keep::{Keeper, Kept},
    work::JobError,
};
use crate::{
    embed::Vector,
    memory::{Actor, Evidence, Memory, QueryVector, Source, Status, StoreError, Write},
    telemetry::Reconciled as Outcome,
};
use compare::{Saying, Stand, compare};
pub(crate) use later::{Judged, judged, told};
pub(super) use origin::Origin;
pub use policy::Policy;
pub(super) use remarks::remark;
use replace::is_older;
use stored::{Scope, said_at};
pub(super) use turns::still_true;

/// Cosine above which what replaces a memory of the same type is its new version, and no memory of
/// its own; the main design's figure.
const SAME_MEMORY: f32 = 0.9;

/// What became of a batch of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reconciled {
    pub(super) stored: u64,
    pub(super) without_vectors: bool,
}

/// Brings candidates into the store, one after the other, so that a later one meets the earlier.
/// Doing it again changes nothing.
pub(super) async fn reconcile(
    keeper: &Keeper,
    policy: Policy,
    origin: &Origin,
    candidates: &[Candidate],
    now: Timestamp,
) -> Result<Reconciled, JobError> {
    let contents = candidates.iter().map(|c| c.content.clone()).collect();
    let vectors: Vec<Option<Vector>> = match keeper.embedder.embed_passages(contents).await {
        Ok(vectors) => vectors.into_iter().map(Some).collect(),
        // Without vectors the same thing could not be told from another.
        Err(error) if origin.extractor.waits_for_vectors => return Err(error.into()),
        Err(_) => vec![None; candidates.len()],
    };
    let space: Arc<str> = keeper.embedder.space().id().into();
    let mut batch =
        Batch { keeper, policy, origin, now, kept: Vec::new(), done: Reconciled::default() };
    for (candidate, values) in candidates.iter().zip(vectors) {
        let vector = values.map(|values| QueryVector { space: space.clone(), values });
        batch.settle(candidate, vector.as_ref()).await?;
    }
    Ok(batch.done)
}

/// The candidates of one batch on their way into the store.
struct Batch<'a> {
    keeper: &'a Keeper,
    policy: Policy,
    origin: &'a Origin,
    now: Timestamp,
    /// The memories that the batch has led to.
    kept: Vec<crate::memory::MemoryId>,
    done: Reconciled,
}

impl Batch<'_> {
    async fn settle(
        &mut self,
        candidate: &Candidate,
        vector: Option<&QueryVector>,
    ) -> Result<(), JobError> {
        let mut new = self.origin.memory_of(candidate, self.now);
        let saying = Saying::of(&new.content);
        let scope = Scope {
            owner: new.owner.clone(),
            project: new.project_id.clone(),
            agent: new.agent_id.clone(),
        };
        let found = scope.statements(self.keeper, &new, &saying, vector, self.now).await?;
        let winner = match self.keeper.store.get(&new.owner, &new.id, self.now).await {
            // An earlier run stored it. What has replaced it since, holds.
            Ok(own) if !own.status.is_in_use() || own.content != new.content => return Ok(()),
            Ok(own) => own,
            Err(StoreError::NotFound) => {
                match self.known(&new, &saying, &found).await? {
                    Some(own) if own.content == new.content && is_of(&own, &new) => {
                        // Its new version; an earlier run may have got no further.
                        return self.replace(&scope, candidate, own, &saying, &found, vector).await;
                    }
                    Some(_) => return Ok(()),
                    None => {}
                }
                if saying.says("correct") && new.source == Source::ExplicitUserInput {
                    new.source = Source::CorrectedMemory;
                }
                new.relations = relations::of(self.keeper, &new, &self.kept, self.now).await?;
                if let Some(newer) = self.newer_in_place(&new, &saying, &found) {
                    new.status = Status::Superseded;
                    new.valid_until = Some(said_at(newer));
                    self.create(new.clone(), Outcome::Superseded).await?;
                    return self.say_no_longer(&new).await;
                }
                match self.next_version(&new, candidate, &saying, &found).await? {
                    Some(version) => version,
                    None => self.create(new, Outcome::Created).await?,
                }
            }
            Err(error) => return Err(error.into()),
        };
        self.kept.push(winner.id.clone());
        self.replace(&scope, candidate, winner, &saying, &found, vector).await
    }

    /// Puts away what holds no longer now that this holds.
    async fn replace(
        &mut self,
        scope: &Scope,
        candidate: &Candidate,
        winner: Memory,
        saying: &Saying,
        found: &[Evidence],
        vector: Option<&QueryVector>,
    ) -> Result<(), JobError> {
        // What is over takes nobody's place.
        if candidate.tense == Some(Tense::Past) {
            return Ok(());
        }
        let replaced = self.replaced(scope, candidate, &winner, saying, found, vector).await?;
        self.apply(winner, replaced).await
    }

    /// What is stored and says the same, reinforced, or told more fully now.
    async fn known(
        &mut self,
        new: &Memory,
        saying: &Saying,
        found: &[Evidence],
    ) -> Result<Option<Memory>, JobError> {
        let stands =
            |found: &Evidence| compare(saying, &Saying::of(&found.memory.content), found.cosine);
        let same = found.iter().find(|found| stands(found) == Stand::Same);
        // The other way round: what is stored tells all of it, and more.
        let within = |found: &&Evidence| {
            compare(&Saying::of(&found.memory.content), saying, found.cosine) == Stand::More
        };
        if let Some(known) = same.or_else(|| found.iter().find(within)) {
            let words = new.raw.as_ref().unwrap_or(&new.content);
            if let Some(again) = reinforce::reinforced(&known.memory, self.origin, words) {
                self.keeper.store.amend(again.memory).await?;
                if again.counts {
                    self.keeper.metrics.reconciled(Outcome::Reinforced);
                }
            }
            self.kept.push(known.memory.id.clone());
            return Ok(Some(known.memory.clone()));
        }
        let fuller = found.iter().find(|found| {
            stands(found) == Stand::More
                && found.memory.memory_type == new.memory_type
                && said_at(&found.memory) <= said_at(new)
        });
        let Some(fuller) = fuller else { return Ok(None) };
        let version = self.version_of(&fuller.memory, new).await?;
        self.kept.push(version.id.clone());
        Ok(Some(version))
    }

    /// What is stored in its place and was said later: the turn of this one was learnt late.
    fn newer_in_place<'f>(
        &self,
        new: &Memory,
        saying: &Saying,
        found: &'f [Evidence],
    ) -> Option<&'f Memory> {
        let newer = found.iter().filter(|found| said_at(&found.memory) > said_at(new));
        let mut newer = newer.filter(|found| {
            compare(&Saying::of(&found.memory.content), saying, found.cosine) == Stand::Replaces
        });
        newer.next().map(|found| &found.memory)
    }

    /// The new version of a memory that says nearly the same of another value.
    async fn next_version(
        &mut self,
        new: &Memory,
        candidate: &Candidate,
        saying: &Saying,
        found: &[Evidence],
    ) -> Result<Option<Memory>, JobError> {
        let nearest = found.iter().find(|found| {
            self.policy == Policy::PreferNew
                && candidate.tense != Some(Tense::Past)
                && is_older(&found.memory, new)
                && found.cosine.is_some_and(|cosine| cosine > SAME_MEMORY)
                && found.memory.memory_type == new.memory_type
                && compare(saying, &Saying::of(&found.memory.content), found.cosine)
                    == Stand::Replaces
        });
        let Some(nearest) = nearest else { return Ok(None) };
        self.say_no_longer(&nearest.memory).await?;
        self.version_of(&nearest.memory, new).await.map(Some)
    }

    async fn version_of(&mut self, old: &Memory, new: &Memory) -> Result<Memory, JobError> {
        let version = Memory {
            content: new.content.clone(),
            raw: new.raw.clone(),
            source: new.source,
            sub_type: new.sub_type.clone().or_else(|| old.sub_type.clone()),
            tags: tags(old, new),
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
            updated_at: self.now,
            ..old.clone()
        };
        let parts = vec![version.content.clone()];
        let write = self.write("fact");
        let (stored, kept) = self.keeper.replace(version, parts, &write).await?;
        self.note(kept, Outcome::Updated);
        Ok(stored)
    }

    async fn create(&mut self, memory: Memory, outcome: Outcome) -> Result<Memory, JobError> {
        let parts = vec![memory.content.clone()];
        let write = self.write("fact");
        let (stored, kept) = self.keeper.create(memory, parts, &write).await?;
        self.note(kept, outcome);
        Ok(stored)
    }

    fn note(&mut self, kept: Kept, outcome: Outcome) {
        self.done.stored += 1;
        self.done.without_vectors |= kept == Kept::WithoutVectors;
        self.keeper.metrics.reconciled(outcome);
    }

    fn write(&self, reason: &'static str) -> Write {
        Write { actor: Actor::Capture, reason, request_id: self.origin.request_id.clone() }
    }
}

/// Whether a memory was made of the same words of the same turn as another.
fn is_of(memory: &Memory, new: &Memory) -> bool {
    memory.provenance.turn == new.provenance.turn
        && memory.provenance.extractor == new.provenance.extractor
}
/// The labels of a new version: those that were given to the memory, and what the new words are.
fn tags(old: &Memory, new: &Memory) -> Vec<String> {
    let given = old.tags.iter().filter(|tag| *tag != Memory::STANDING);
    let mut tags: Vec<String> = given.cloned().collect();
    tags.extend(
        new.tags.iter().filter(|tag| !old.tags.contains(tag) || *tag == Memory::STANDING).cloned(),
    );
    tags
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::memory::{MemoryId, MemoryType, Owner};

    #[test]
    fn a_new_version_keeps_its_labels_and_is_a_standing_wish_only_by_its_own_words() {
        let memory = |tags: &[&str]| {
            let owner = Owner::of_user("u").unwrap();
            let kind = MemoryType::new(MemoryType::PROCEDURAL);
            let (id, source) = (MemoryId::fresh(), Source::ExplicitUserInput);
            let mut memory = Memory::new(id, owner, kind, "x", source, Timestamp::UNIX_EPOCH);
            memory.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
            memory
        };
        let of = |old: &[&str], new: &[&str]| tags(&memory(old), &memory(new));
        assert_eq!(of(&["mine", Memory::STANDING], &[]), ["mine"]);
        assert_eq!(of(&["mine"], &[Memory::STANDING]), ["mine", Memory::STANDING]);
        assert_eq!(of(&[Memory::STANDING], &[Memory::STANDING]), [Memory::STANDING]);
    }
}

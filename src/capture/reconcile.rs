//! A candidate against what is stored: the same thing again is a new version,
//! everything else a new memory. Nothing is lost by an update: the old version
//! stays in the history.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    extract::candidate::{Candidate, Extractor},
    keep::{Keeper, Kept},
    work::JobError,
};
use crate::{
    embed::Vector,
    memory::{
        Actor, Evidence, Memory, MemoryId, MemoryType, Owner, Provenance, QueryVector, ScopeQuery,
        Search, StoreError, Write,
    },
};

/// Cosine above which two memories say the same thing; the main design's figure.
const SAME: f32 = 0.9;

/// Memories that a candidate is compared with: more than one, since the nearest
/// may belong to another scope.
const COMPARED: usize = 10;

/// Where candidates come from, and where they belong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Origin {
    pub(super) extractor: Extractor,
    pub(super) owner: Owner,
    pub(super) project: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) session: String,
    /// The key of the batch's last turn.
    pub(super) turn: String,
    /// When that turn was.
    pub(super) at: Timestamp,
    pub(super) request_id: Option<String>,
}

/// What to do with a candidate.
#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    /// Known in the same words.
    Known,
    /// The newest words for this memory.
    Update(Box<Memory>),
    /// Something new.
    Create,
}

/// The verdict on a candidate, given what is stored in its scope. What is
/// alike but not the same (0.7 to 0.9) is kept beside it.
fn verdict(content: &str, stored: Vec<Evidence>) -> Verdict {
    if stored.iter().any(|found| found.memory.content == content) {
        return Verdict::Known;
    }
    let nearest = stored
        .into_iter()
        .filter_map(|found| Some((found.cosine?, found.memory)))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((cosine, memory)) if cosine > SAME => Verdict::Update(Box::new(memory)),
        _ => Verdict::Create,
    }
}

/// What became of a batch of candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reconciled {
    pub(super) stored: u64,
    pub(super) without_vectors: bool,
}

/// Brings candidates into the store, one after the other, so that a later one
/// meets the earlier. Doing it again changes nothing.
pub(super) async fn reconcile(
    keeper: &Keeper,
    origin: &Origin,
    candidates: &[Candidate],
    now: Timestamp,
) -> Result<Reconciled, JobError> {
    let contents = candidates.iter().map(|c| c.content.clone()).collect();
    let vectors: Vec<Option<Vector>> = match keeper.embedder.embed_passages(contents).await {
        Ok(vectors) => vectors.into_iter().map(Some).collect(),
        // Without vectors the same thing could not be told from another.
        Err(error) if origin.extractor.waits_for_vectors => return Err(JobError::retry(error)),
        Err(_) => vec![None; candidates.len()],
    };
    let space: Arc<str> = keeper.embedder.space().id().into();
    let mut reconciled = Reconciled::default();
    for (candidate, values) in candidates.iter().zip(vectors) {
        let vector = values.map(|values| QueryVector { space: space.clone(), values });
        let stored = in_scope(keeper, origin, candidate, vector, now).await?;
        let write =
            Write { actor: Actor::Capture, reason: "fact", request_id: origin.request_id.clone() };
        let parts = vec![candidate.content.clone()];
        let kept = match verdict(&candidate.content, stored) {
            Verdict::Known => continue,
            Verdict::Update(old) => {
                let new = updated(*old, origin, candidate, now);
                keeper.replace(new, parts, &write).await?
            }
            Verdict::Create => {
                match keeper.create(created(origin, candidate, now), parts, &write).await {
                    // An earlier run stored it, and something nearer came since.
                    Err(StoreError::Exists) => continue,
                    other => other?,
                }
            }
        };
        reconciled.stored += 1;
        reconciled.without_vectors |= kept == Kept::WithoutVectors;
    }
    Ok(reconciled)
}

/// The stored memories of the same owner, type and scope that are nearest: by their vectors, or
/// else by their words.
async fn in_scope(
    keeper: &Keeper,
    origin: &Origin,
    candidate: &Candidate,
    vector: Option<QueryVector>,
    now: Timestamp,
) -> Result<Vec<Evidence>, StoreError> {
    let search = Search {
        scopes: vec![ScopeQuery {
            project_id: origin.project.clone(),
            agent_id: origin.agent.clone(),
            types: vec![candidate.memory_type.clone()],
            ..ScopeQuery::of(origin.owner.clone())
        }],
        filter: None,
        text: vector.is_none().then(|| candidate.content.clone()),
        vector,
        limit: COMPARED,
        now,
    };
    let mut found = keeper.store.retrieve(&search).await?;
    found.retain(|found| {
        found.memory.owner == origin.owner
            && found.memory.project_id == origin.project
            && found.memory.agent_id == origin.agent
    });
    Ok(found)
}

fn created(origin: &Origin, candidate: &Candidate, now: Timestamp) -> Memory {
    let parts = [origin.extractor.name, &origin.owner.key(), &origin.turn, &candidate.content];
    let mut memory = Memory::new(
        MemoryId::derived(&parts),
        origin.owner.clone(),
        MemoryType::new(&candidate.memory_type),
        &candidate.content,
        origin.extractor.source,
        now,
    );
    memory.project_id.clone_from(&origin.project);
    memory.agent_id.clone_from(&origin.agent);
    memory.session_id = Some(origin.session.clone());
    memory.event_time = Some(origin.at);
    memory.raw.clone_from(&candidate.raw);
    memory.provenance = provenance(origin);
    memory
}

fn updated(old: Memory, origin: &Origin, candidate: &Candidate, now: Timestamp) -> Memory {
    Memory {
        content: candidate.content.clone(),
        raw: candidate.raw.clone(),
        event_time: Some(origin.at),
        session_id: Some(origin.session.clone()),
        provenance: provenance(origin),
        updated_at: now,
        ..old
    }
}

fn provenance(origin: &Origin) -> Provenance {
    Provenance {
        turn: Some(origin.turn.clone()),
        extractor: Some(origin.extractor.name.to_owned()),
        extractor_version: Some(origin.extractor.version.to_owned()),
    }
}

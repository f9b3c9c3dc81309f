//! The job that summarises a session that has ended. A session that ends once more is summarised anew.

use crate::{
    backfill::{EMBED_REST, owe_vectors},
    error::JobError,
    extract::summary,
    journal,
    parts::Parts,
    reconcile::still_true,
    turn::StoredTurn,
    writer::Written,
};
use memgate_core::memory::{Actor, Memory, StoreError, Write};

/// Sums a session up. The helper model is asked where there is one; what it
/// does not give is made of the user's own statements.
pub(crate) async fn run(parts: &Parts, session: i64) -> Result<(), JobError> {
    if !parts.live.get().sessions.summaries {
        return Ok(());
    }
    let turns = parts.journal.read(move |c| journal::to_sum_up(c, session)).await?;
    for turns in summary::by_scope(turns) {
        if let Some(memory) = summary_of(parts, &turns).await? {
            store_summary(parts, memory).await?;
        }
    }
    Ok(())
}

async fn summary_of(parts: &Parts, turns: &[StoredTurn]) -> Result<Option<Memory>, JobError> {
    let settings = parts.live.get();
    if let Some(helper) = &settings.extractor {
        match summary::ask(helper, settings.screener, turns).await {
            (summary::Told::Words(words), of) => {
                return Ok(summary::memory(&words, of, parts.journal.now()));
            }
            (summary::Told::Nothing, _) => return Ok(None),
            (summary::Told::Unusable, _) => {}
        }
    }
    let (embedder, models) = (parts.writer.embedder.as_ref(), parts.writer.models.as_ref());
    let found = summary::central_statements(embedder, models, turns).await;
    Ok(found
        .map_err(JobError::retry)?
        .and_then(|(words, of)| summary::memory(&words, &of, parts.journal.now())))
}

/// The summary without what its turns, or itself, say no longer.
async fn without_outdated(parts: &Parts, new: Memory) -> Result<Memory, JobError> {
    let links = new.relations.iter().map(|link| &link.target);
    let mut stored = Vec::new();
    for id in links.chain([&new.id]) {
        match parts.writer.store.get(&new.owner, id, new.updated_at).await {
            Ok(memory) => stored.push(memory),
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(still_true(new, &stored))
}

/// A session's summary is one memory: what is told later is a new version.
async fn store_summary(parts: &Parts, new: Memory) -> Result<(), JobError> {
    let write = Write::by(Actor::Capture, "summary");
    let new = without_outdated(parts, new).await?;
    if !new.status.is_in_use() {
        return Ok(());
    }
    let passages = new.passages();
    let (_, written) = match parts.writer.store.get(&new.owner, &new.id, new.updated_at).await {
        Ok(old) if old.content == new.content && old.relations == new.relations => {
            return Ok(());
        }
        Ok(old) => {
            let version = Memory {
                content: new.content,
                structured: new.structured,
                event_time: new.event_time,
                relations: new.relations,
                provenance: new.provenance,
                updated_at: new.updated_at,
                ..old
            };
            parts.writer.replace(version, passages, &write).await?
        }
        Err(StoreError::NotFound) => parts.writer.create(new, passages, &write).await?,
        Err(error) => return Err(error.into()),
    };
    match written {
        Written::Whole => Ok(()),
        Written::WithoutVectors => Ok(owe_vectors(&parts.journal, EMBED_REST).await?),
    }
}

//! Remarks: sentences of a turn that are not worth a memory, but outdate an older one: "threatened to
//! leave, and it's 19 now". The turn's own memory holds them, so it replaces the older words. `implicit_update`
//! finds replacements that only the whole message shows.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    reconcile::{
        error::ReconcileError,
        implicit_update::outdate,
        replace::sentences_in_the_way,
        scope::{Scope, said_at},
        supersede::put_away,
        turn_text::told_by,
    },
    settings::Policy,
    turn::StoredTurn,
    writer::MemoryWriter,
};
use memgate_core::memory::{Memory, MemoryKind, MemoryType, QueryVector, Relation, StoreError};
use memgate_text::compare::{Mark, Statement, Verdict, compare};

/// The most remarks of one turn that are followed.
const MOST: usize = 4;

/// Lets the remarks in a turn replace what is older. `kept` are the statements found in it.
pub(crate) async fn remark(
    writer: &MemoryWriter,
    policy: Policy,
    turn: &StoredTurn,
    kept: &[String],
    now: Timestamp,
) -> Result<(), ReconcileError> {
    // Under another policy somebody decides on contradictions, and needs statements for that.
    if policy != Policy::PreferNew {
        return Ok(());
    }
    let own = match writer.store.get(&turn.owner, &turn.memory_id(), now).await {
        Ok(own) if own.status.is_in_use() => own,
        // Nothing would be left that says the new state.
        Ok(_) | Err(StoreError::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let remarks: Vec<String> = told_by(&own)
        .into_iter()
        .filter(|said| !kept.iter().any(|kept| kept.contains(said.trim_end_matches('.'))))
        .map(str::to_owned)
        .filter(|said| {
            let statement = Statement::of(said);
            statement.says(Mark::Turned) || statement.says(Mark::Now)
        })
        .take(MOST)
        .collect();
    // Without vectors there is too little to go by.
    let Ok(vectors) = writer.embedder.embed_passages(remarks.clone()).await else { return Ok(()) };
    let space: Arc<str> = writer.embedder.space().id().into();
    for (said, values) in remarks.iter().zip(vectors) {
        let vector = QueryVector { space: space.clone(), values };
        follow(writer, &own, turn, said, &vector, now).await?;
    }
    // The nearest sentence counts, and that is another one once the nearest is put away. So a sentence that a
    // turn has put away before is not weighed again, though a try that broke off may have left some.
    if own.relations.iter().any(|relation| relation.kind == Relation::SUPERSEDES) {
        return Ok(());
    }
    outdate(writer, &own, turn, now).await
}

async fn follow(
    writer: &MemoryWriter,
    own: &Memory,
    turn: &StoredTurn,
    said: &str,
    vector: &QueryVector,
    now: Timestamp,
) -> Result<(), ReconcileError> {
    let statement = Statement::of(said);
    let scope = Scope::of(own);
    let as_fact = Memory {
        memory_type: MemoryType::new(MemoryType::SEMANTIC),
        kind: MemoryKind::Statement,
        content: said.to_owned(),
        reply: None,
        ..own.clone()
    };
    let found = scope.statements(writer, &as_fact, &statement, Some(vector), now).await?;
    let mut old: Vec<Memory> = Vec::new();
    for found in found {
        let older = said_at(&found.memory) <= turn.began
            && found.memory.provenance.turn.as_deref() != Some(&*turn.key);
        let verdict = compare(&statement, &Statement::of(&found.memory.content), found.cosine);
        if older && verdict == Verdict::Replaces {
            old.push(found.memory);
        }
    }
    let sentences =
        sentences_in_the_way(writer, &scope, said, &statement, Some(vector), now, own).await?;
    put_away(writer, own, turn, old, sentences, now).await
}

//! Remarks: sentences of a turn that are no statements worth keeping, and still say that something
//! holds no longer: "threatened to leave, and it's 19 now". The turn's own memory holds them, so it
//! is what replaces the older words. What only the whole message shows, `later` finds.

use std::sync::Arc;

use super::{
    Policy, Scope,
    compare::{Saying, Stand, compare},
    later::outdate,
    replace::{leave_out, sentences_in_the_way, supersede},
    said_at, turns,
};
use crate::{
    capture::{extract::turns::id_of, journal::StoredTurn, keep::Keeper, work::JobError},
    memory::{Actor, Memory, QueryVector, Relation, StoreError, Write},
};

/// The relation to what a turn's memory holds in the place of.
const SUPERSEDES: &str = "supersedes";

/// The most remarks of one turn that are followed.
const MOST: usize = 4;

/// Lets the remarks in a turn replace what is older. `kept` are the statements found in it.
pub(in crate::capture) async fn remark(
    keeper: &Keeper,
    policy: Policy,
    turn: &StoredTurn,
    kept: &[String],
    now: jiff::Timestamp,
) -> Result<(), JobError> {
    // Whoever decides on contradictions needs statements to decide on.
    if policy != Policy::PreferNew {
        return Ok(());
    }
    let own = match keeper.store.get(&turn.owner, &id_of(&turn.owner, &turn.key), now).await {
        Ok(own) if own.status.is_in_use() => own,
        // Nothing would be left that tells the new state.
        Ok(_) | Err(StoreError::NotFound) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let remarks: Vec<String> = turns::told(&own)
        .into_iter()
        .filter(|said| !kept.iter().any(|kept| kept.contains(said.trim_end_matches('.'))))
        .map(str::to_owned)
        .filter(|said| {
            let saying = Saying::of(said);
            saying.says("turned") || saying.says("now")
        })
        .take(MOST)
        .collect();
    // Without vectors there is too little to go by.
    let Ok(vectors) = keeper.embedder.embed_passages(remarks.clone()).await else { return Ok(()) };
    let space: Arc<str> = keeper.embedder.space().id().into();
    for (said, values) in remarks.iter().zip(vectors) {
        let vector = QueryVector { space: space.clone(), values };
        follow(keeper, &own, turn, said, &vector, now).await?;
    }
    // What is nearest counts, and that is another sentence once the nearest one is put away. So what a
    // turn has put away before is not weighed again, though a try that broke off may have left some.
    if own.relations.iter().any(|relation| relation.kind == SUPERSEDES) {
        return Ok(());
    }
    outdate(keeper, &own, turn, now).await
}

async fn follow(
    keeper: &Keeper,
    own: &Memory,
    turn: &StoredTurn,
    said: &str,
    vector: &QueryVector,
    now: jiff::Timestamp,
) -> Result<(), JobError> {
    let saying = Saying::of(said);
    let scope = Scope {
        owner: turn.owner.clone(),
        project: turn.project.clone(),
        agent: turn.agent.clone(),
    };
    let as_fact = Memory {
        memory_type: crate::memory::MemoryType::new(crate::memory::MemoryType::SEMANTIC),
        content: said.to_owned(),
        ..own.clone()
    };
    let found = scope.statements(keeper, &as_fact, &saying, Some(vector), now).await?;
    let mut old: Vec<Memory> = Vec::new();
    for found in found {
        let older = said_at(&found.memory) <= turn.began
            && found.memory.provenance.turn.as_deref() != Some(&*turn.key);
        let stand = compare(&saying, &Saying::of(&found.memory.content), found.cosine);
        if older && stand == Stand::Replaces {
            old.push(found.memory);
        }
    }
    let sentences =
        sentences_in_the_way(keeper, &scope, said, &saying, Some(vector), now, own).await?;
    put_away(keeper, own, turn, old, sentences, now).await
}

/// Lets a turn's memory hold in the place of statements, and of sentences of other turns.
pub(super) async fn put_away(
    keeper: &Keeper,
    own: &Memory,
    turn: &StoredTurn,
    old: Vec<Memory>,
    sentences: Vec<(Memory, String)>,
    now: jiff::Timestamp,
) -> Result<(), JobError> {
    if old.is_empty() && sentences.is_empty() {
        return Ok(());
    }
    let write =
        Write { actor: Actor::Capture, reason: "superseded", request_id: turn.request_id.clone() };
    let mut own = keeper.store.get(&own.owner, &own.id, now).await?;
    let targets = old.iter().chain(sentences.iter().map(|(turn, _)| turn)).map(|m| m.id.clone());
    let known = own.relations.len();
    for target in targets {
        let link = Relation { kind: SUPERSEDES.to_owned(), target };
        if !own.relations.contains(&link) {
            own.relations.push(link);
        }
    }
    own.valid_from = own.valid_from.or(Some(turn.began));
    if own.relations.len() != known {
        own = keeper.store.update(Memory { updated_at: now, ..own }, None, &write).await?;
    }
    for old in old {
        supersede(keeper, old, &own, &write).await?;
    }
    for (turn, words) in sentences {
        leave_out(keeper, &turn, &words, &own, &write).await?;
    }
    Ok(())
}

//! The way of candidates into the store, which all jobs that find candidates share.

use crate::{
    admission::{Dropped, admit_candidate},
    backfill::{EMBED_REST, owe_vectors},
    candidate::Candidate,
    error::JobError,
    extractor::Extractor,
    parts::Parts,
    reconcile::{Origin, reconcile},
    trail::{TurnEvent, TurnName},
    turn::StoredTurn,
};
use memgate_text::command::{Commands, Typed};

/// The one way of candidates into the store: through admission and reconciliation. Returns how many
/// were stored.
pub(crate) async fn store_candidates(
    parts: &Parts,
    origin: &Origin,
    found: Vec<Candidate>,
) -> Result<u64, JobError> {
    let speaker = origin.speaker.as_deref();
    let name = || origin.turn_name();
    let found: Vec<Candidate> =
        admitted(parts, name, found).into_iter().map(|found| found.said_by(speaker)).collect();
    let policy = parts.live.get().policy;
    let reconciled = reconcile(&parts.writer, policy, origin, &found, parts.journal.now()).await?;
    if reconciled.stored > 0 {
        tracing::info!("Memory: Stored {} facts", reconciled.stored);
    }
    if reconciled.without_vectors {
        owe_vectors(&parts.journal, EMBED_REST).await?;
    }
    Ok(reconciled.stored)
}

/// The candidates of a turn that are admitted; the others are counted, and noted in the trail.
pub(crate) fn admitted(
    parts: &Parts,
    of: impl Fn() -> TurnName,
    found: Vec<Candidate>,
) -> Vec<Candidate> {
    let settings = parts.live.get();
    let admit = |candidate| admit_candidate(candidate, &settings);
    let count = |why: Dropped| {
        parts.writer.metrics.candidates_dropped(why.name(), 1);
        parts.writer.trail.note(of(), [TurnEvent::dropped("statement", why.name())]);
    };
    found.into_iter().filter_map(|found| admit(found).map_err(count).ok()).collect()
}

/// The origin of candidates that an extractor found in a turn, or in a batch that ends with it.
pub(crate) fn origin(last: &StoredTurn, extractor: Extractor) -> Origin {
    Origin {
        extractor,
        owner: last.owner.clone(),
        project: last.project.clone(),
        agent: last.agent.clone(),
        session: last.session.clone(),
        turn: last.key.clone(),
        at: last.began,
        request_id: last.request_id.clone(),
        speaker: last.speaker.clone(),
        typed: Typed::default(),
    }
}

/// Removes the commands to memory from a turn. Jobs of their own carry out those of the user; those in a
/// quoted document are not carried out.
pub(crate) fn without_commands(turn: &mut StoredTurn) {
    let asked = Commands::of(&turn.user_text);
    if asked.kind().is_some() || asked.others {
        turn.user_text = asked.rest;
    }
}

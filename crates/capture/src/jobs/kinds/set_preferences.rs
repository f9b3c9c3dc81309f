//! The job that stores the preferences which a user stated in a turn.

use std::time::Duration;

use crate::{
    error::JobError,
    jobs::{payload::payload, prompts::is_clients_prompt},
    journal::{self, ClaimedJob},
    parts::Parts,
    preferences::{preference_memory, set_preference},
    trail::{Became, TurnEvent},
};
use memgate_core::memory::{Actor, MemoryId, Provenance, Source, Write, extractor};
use memgate_text::preferences::Stated;

/// The version of the patterns, in every memory made by them.
const VERSION: &str = "1";

/// How sure a preference is: the user typed it.
const CONFIDENCE: f32 = 0.95;

/// The pause while what the same message asks to be forgotten is still there.
const ORDER_PAUSE: Duration = Duration::from_secs(5);

/// Stores the preferences of a turn; the values are in the payload.
pub(crate) async fn run(parts: &Parts, job: &ClaimedJob) -> Result<(), JobError> {
    let stated: Vec<Stated> = payload(job)?;
    let turn = job.subject;
    if parts.journal.read(move |c| journal::has_to_forget(c, turn)).await? {
        return Err(JobError::NotNow(ORDER_PAUSE));
    }
    let Some(said) = parts.journal.read(move |c| journal::turn(c, turn)).await? else {
        return Ok(());
    };
    if is_clients_prompt(parts, &said).await? {
        return Ok(());
    }
    let (now, store) = (parts.journal.now(), parts.writer.store.as_ref());
    let write =
        Write { actor: Actor::Capture, reason: "preference", request_id: said.request_id.clone() };
    for Stated { preference, words } in stated {
        let (key, value) = (preference.key().name(), preference.value().to_owned());
        let from = [extractor::PREFERENCES, &said.owner.key(), &said.key, key, &value];
        let (id, source) = (MemoryId::derived(&from), Source::ExplicitUserInput);
        let mut memory = preference_memory(id, said.owner.clone(), preference, source, said.began);
        memory.raw = Some(words);
        memory.project_id.clone_from(&said.project);
        memory.session_id = Some(said.session.clone());
        memory.confidence = Some(CONFIDENCE);
        memory.event_time = Some(said.began);
        (memory.created_at, memory.updated_at) = (now, now);
        memory.provenance = Provenance {
            turn: Some(said.key.clone()),
            extractor: Some(extractor::PREFERENCES.to_owned()),
            extractor_version: Some(VERSION.to_owned()),
            said_at: Some(said.began),
            again: Vec::new(),
        };
        let new = memory.id.clone();
        let in_force = set_preference(store, parts.writer.ending(memory), &write, now).await?;
        parts.writer.bound(&in_force, &write).await?;
        let kept = TurnEvent::of(Became::Kept, "preference", &in_force.id);
        parts.writer.trail.note((&said).into(), [kept]);
        if in_force.id == new {
            parts.writer.metrics.stored(in_force.memory_type.as_str());
        }
    }
    Ok(())
}

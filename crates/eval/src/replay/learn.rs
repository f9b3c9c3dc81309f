//! Learns from turns as the gateway does, at their own dates, and reads what came of them.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use super::{
    ask::PATIENCE,
    body::{Session, Turn, request},
};
use crate::evaluation::Services;
use memgate_capture::{Circumstances, FinishedTurn, JobQuery};
use memgate_core::memory::{Actor, Embedding, Memory, Owner, Write};
use memgate_dialect::{Dialect, Ending, Reply};

/// Number of memories that are read from the store at once.
const PAGE: usize = 500;
/// Number of jobs that are searched for an error.
const JOBS: usize = 20;
/// Simulated time between two turns of a session.
pub(crate) const BETWEEN_TURNS: SignedDuration = SignedDuration::from_mins(1);

/// Learns one message, with a short reply.
///
/// # Errors
/// When a part of memory fails or times out.
pub(crate) async fn say(memory: &Services, owner: &Owner, text: &str) -> Result<()> {
    let turn = Turn { user: text.to_owned(), assistant: "All right.".to_owned() };
    learn(memory, owner, "message", memory.clock.now(), &[turn]).await
}

/// Learns the sessions of a story, one after the other.
///
/// # Errors
/// When a part of memory fails or times out.
pub(crate) async fn learn_all(
    memory: &Services,
    owner: &Owner,
    story: &str,
    sessions: &[Session],
) -> Result<()> {
    for (number, Session { date, turns }) in sessions.iter().enumerate() {
        learn(memory, owner, &format!("{story}-{number}"), *date, turns).await?;
    }
    Ok(())
}

/// Offers the turns of a session to capture and waits until they are memories.
pub(crate) async fn learn(
    memory: &Services,
    owner: &Owner,
    session: &str,
    date: Timestamp,
    turns: &[Turn],
) -> Result<()> {
    // The session is learned from when it ends, whatever order its jobs take.
    let last = i32::try_from(turns.len().saturating_sub(1))?;
    memory.time.set(date + BETWEEN_TURNS * last);
    for (number, turn) in turns.iter().enumerate() {
        let began = date + BETWEEN_TURNS * i32::try_from(number)?;
        let body = request(&turns[..number], &turn.user);
        offer(memory, owner, session, began, &body, &turn.assistant)?;
    }
    finish(memory, owner, session).await
}

/// Learns from one request, given as its body, and its reply.
///
/// # Errors
/// When a part of memory fails or times out.
pub(crate) async fn learn_body(
    memory: &Services,
    owner: &Owner,
    session: &str,
    body: &[u8],
    assistant: &str,
) -> Result<()> {
    offer(memory, owner, session, memory.clock.now(), body, assistant)?;
    finish(memory, owner, session).await
}

fn offer(
    memory: &Services,
    owner: &Owner,
    session: &str,
    began: Timestamp,
    body: &[u8],
    assistant: &str,
) -> Result<()> {
    let ask = memgate_dialect::read(Dialect::Chat, body)?;
    let of = Circumstances {
        owner: owner.clone(),
        project_id: None,
        agent_id: None,
        session_header: Some(session.to_owned()),
        request_id: None,
        began,
        ended: began,
        zone: TimeZone::UTC,
        ends_session: false,
        learn: true,
    };
    let Some(finished) = FinishedTurn::new(ask.ask(), reply(assistant), of) else {
        bail!("a turn of {session} cannot be learned from");
    };
    let flight = memory.capture.exchange_begins();
    flight.known(owner);
    memory.capture.offer(finished, flight);
    Ok(())
}

/// Waits until everything offered is memories.
async fn finish(memory: &Services, owner: &Owner, session: &str) -> Result<()> {
    let flushed = memory.capture.flush(owner, PATIENCE).await?;
    if flushed.jobs_pending + flushed.jobs_dead > 0 {
        let why = why_not(memory, owner).await?;
        ensure!(flushed.jobs_dead == 0, "{session} cannot be learned from{why}");
        bail!("{session} was not learned from within {} s{why}", PATIENCE.as_secs());
    }
    Ok(())
}

/// The error of the last failed job; usually an unavailable model.
async fn why_not(memory: &Services, owner: &Owner) -> Result<String> {
    let query = JobQuery { owner: Some(owner.clone()), state: None, before: None, limit: JOBS };
    let jobs = memory.capture.jobs(query).await?;
    let error = jobs.into_iter().find_map(|job| job.last_error);
    Ok(error.map(|error| format!(": {error}")).unwrap_or_default())
}

fn reply(text: &str) -> Reply {
    Reply {
        response_id: None,
        model: None,
        text: text.to_owned(),
        refusal: None,
        tool_calls: Vec::new(),
        outcome: Ending::Complete,
        usage: None,
        items: Vec::new(),
    }
}

/// Everything in an owner's store, oldest first, whatever its status.
///
/// # Errors
/// When the store fails.
pub(crate) async fn stored(memory: &Services, owner: &Owner) -> Result<Vec<Memory>> {
    let (mut memories, mut after) = (Vec::new(), None);
    loop {
        let scan = memory.store.scan(Some(owner), after.as_deref(), PAGE).await?;
        memories.extend(scan.found.into_iter().map(|whole| whole.memory));
        after = scan.next;
        if after.is_none() {
            break;
        }
    }
    memories.sort_by(|a, b| (a.created_at, a.text()).cmp(&(b.created_at, b.text())));
    Ok(memories)
}

/// The memories of an owner that recall may present, oldest first.
///
/// # Errors
/// When the store fails.
pub(crate) async fn in_use(memory: &Services, owner: &Owner) -> Result<Vec<Memory>> {
    let mut memories = stored(memory, owner).await?;
    let now = memory.clock.now();
    memories.retain(|memory| memory.is_in_use(now));
    Ok(memories)
}

/// Stores a memory as it is, with the vectors of its passages.
///
/// # Errors
/// When the store fails.
pub(crate) async fn keep(
    memory: &Services,
    kept: Memory,
    vectors: impl IntoIterator<Item = Arc<[f32]>>,
) -> Result<()> {
    let space: Arc<str> = memory.embedder.space().id().into();
    let vectors = (0..).zip(vectors);
    let vectors = vectors.map(|(part, values)| Embedding { space: space.clone(), part, values });
    memory.store.store(kept, vectors.collect(), &Write::by(Actor::Capture, "eval")).await?;
    Ok(())
}

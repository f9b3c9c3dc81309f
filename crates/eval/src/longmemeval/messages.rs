//! Stores each message as one memory and ranks all of them, beside plain searches.

use std::collections::HashMap;

use anyhow::Result;
use jiff::SignedDuration;

use super::question::{Question, Speaker};
use crate::{
    baseline::{by_bm25, by_cosine},
    evaluation::Services,
    replay::{Asked, keep, selection},
};
use memgate_core::memory::{Memory, MemoryId, MemoryType, Owner, Source};

/// The depth of the figures.
const DEPTH: usize = 5;
/// Simulated time between two messages of a chat.
const BETWEEN_MESSAGES: SignedDuration = SignedDuration::from_secs(30);

/// The evidence that three rankings find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rankings {
    pub(super) ours: Found,
    pub(super) cosine: Found,
    pub(super) bm25: Found,
}

/// The evidence that one ranking finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// The share of the messages with evidence that are among the first [`DEPTH`] memories.
    pub(super) messages: f64,
    /// Whether all sessions with evidence are among the first [`DEPTH`] sessions.
    pub(super) all_sessions: bool,
}

/// A stored message: its chat's number, and whether it is evidence.
#[derive(Clone, Copy)]
struct Place {
    session: usize,
    is_evidence: bool,
}

/// Ranks a question's messages.
///
/// # Errors
/// When a part of memory fails.
pub(super) async fn ask(memory: &Services, question: &Question) -> Result<Rankings> {
    let owner = Owner::of_user(&question.id)?;
    let places = remember(memory, &owner, question).await?;
    let asked = Asked {
        owner: &owner,
        at: question.date,
        before: &[],
        user: &question.text,
        selection: selection(&memory.config),
        ranked: true,
    };
    let recalled = asked.recall(memory).await?;
    let asked = (&owner, recalled.query.as_str(), question.date);
    let found = |ids: &mut dyn Iterator<Item = &MemoryId>| {
        let hits: Vec<Place> = ids.filter_map(|id| places.get(id).copied()).collect();
        Found::of(&hits, places.values().filter(|place| place.is_evidence).copied())
    };
    Ok(Rankings {
        ours: found(&mut recalled.ranked.iter().map(|hit| &hit.memory.id)),
        cosine: found(&mut by_cosine(memory, asked).await?.iter()),
        bm25: found(&mut by_bm25(memory, asked).await?.iter()),
    })
}

impl Found {
    #[expect(clippy::cast_precision_loss, reason = "counts of messages")]
    fn of(hits: &[Place], evidence: impl Iterator<Item = Place>) -> Self {
        let evidence: Vec<Place> = evidence.collect();
        let found = hits.iter().take(DEPTH).filter(|hit| hit.is_evidence).count();
        let mut sessions = Vec::new();
        for hit in hits {
            if !sessions.contains(&hit.session) {
                sessions.push(hit.session);
            }
        }
        sessions.truncate(DEPTH);
        Self {
            messages: found as f64 / evidence.len().max(1) as f64,
            all_sessions: evidence.iter().all(|it| sessions.contains(&it.session)),
        }
    }
}

async fn remember(
    memory: &Services,
    owner: &Owner,
    question: &Question,
) -> Result<HashMap<MemoryId, Place>> {
    let mut places = HashMap::new();
    for (number, session) in question.sessions.iter().enumerate() {
        let content = |message: &super::question::Message| match message.role {
            Speaker::User => format!("User: {}", message.content),
            Speaker::Assistant => format!("Assistant: {}", message.content),
        };
        let contents: Vec<String> = session.messages.iter().map(content).collect();
        let vectors = memory.embedder.embed_passages(contents.clone()).await?;
        let mut said_at = session.date;
        for (at, (content, values)) in contents.into_iter().zip(vectors).enumerate() {
            let id = MemoryId::derived(&["longmemeval", &question.id, &format!("{number}-{at}")]);
            let mut told = Memory::new(
                id.clone(),
                owner.clone(),
                MemoryType::new(MemoryType::EPISODIC),
                content,
                Source::ExplicitUserInput,
                said_at,
            );
            told.session_id = Some(session.id.clone());
            told.event_time = Some(said_at);
            told.provenance.said_at = Some(said_at);
            keep(memory, told, [values]).await?;
            let is_evidence = session.messages.get(at).is_some_and(|it| it.is_evidence);
            places.insert(id, Place { session: number, is_evidence });
            said_at += BETWEEN_MESSAGES;
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_counted_in_memories_and_sessions() {
        let place = |session, is_evidence| Place { session, is_evidence };
        let hits: Vec<Place> = (0..4).map(|n| place(n, false)).collect();
        let hits = [hits, vec![place(0, false), place(4, true), place(5, true)]].concat();
        let found = Found::of(&hits, [place(4, true), place(5, true)].into_iter());
        assert_eq!(found, Found { messages: 0.0, all_sessions: false });
        let found = Found::of(&hits[1..], [place(4, true), place(5, true)].into_iter());
        assert_eq!(found, Found { messages: 0.5, all_sessions: false });
        let found = Found::of(&hits[2..], [place(4, true), place(5, true)].into_iter());
        assert_eq!(found, Found { messages: 1.0, all_sessions: true });
    }
}

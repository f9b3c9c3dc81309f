//! A message that takes up the last conversation as a whole names nothing to search for: what it asks for is where that
//! conversation stood.

use crate::{
    hit::{Hit, ScoreBreakdown},
    retrieve::{QueryEmbedding, Retrieval, last_session},
    services::Services,
};
use memgate_core::memory::Memory;
use memgate_models::log_odds;
use memgate_text::greeting::is_greeting;

/// The relevance of what was said last, to a message that asks for just that.
const RELEVANCE: f32 = 0.9;

/// Where the last conversation stood, newest first, if the message takes it up. Behind other words than greetings it means the
/// conversation that it stands in, which the model sees.
pub(super) async fn resumed(services: &Services, retrieval: &Retrieval<'_>) -> Vec<Hit> {
    let Retrieval { request, query, embedding } = *retrieval;
    let read = embedding.and_then(QueryEmbedding::layers);
    if !request.earlier.iter().all(|text| is_greeting(text))
        || !services.models.resuming.takes_up(&query.message, read)
    {
        return Vec::new();
    }
    let found = last_session(services, request).await;
    let hit = |memory: Memory| Hit {
        scope: request.scope_of(&memory),
        memory,
        score: RELEVANCE,
        breakdown: ScoreBreakdown {
            length: 1.0,
            replies: true,
            order: log_odds(RELEVANCE),
            ..ScoreBreakdown::default()
        },
    };
    found.into_iter().map(hit).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::{Timestamp, ToSpan, civil::Date};

    use super::*;
    use crate::{
        Query, QueryConfig, Selection, pipeline, request::tests::request, tests::recall_on,
    };
    use memgate_core::memory::{
        Actor, MemoryId, MemoryKind, MemoryStore, MemoryType, Owner, Source, Write,
    };
    use memgate_embed::deterministic::DeterministicEmbedder;
    use memgate_store::InMemoryStore;
    use memgate_telemetry::Metrics;

    /// What a message is shown, in a memory of these turns (and, in brackets, summaries), each with its session, oldest first.
    async fn shown(message: &str, session: Option<&str>, told: &[(&str, &str)]) -> Vec<String> {
        let owner = Owner::of_user("ana").unwrap();
        let store = Arc::new(InMemoryStore::new());
        let write = Write::by(Actor::Capture, "test");
        for (at, (session, text)) in told.iter().enumerate() {
            let time = Timestamp::UNIX_EPOCH + (at as i64).minutes();
            let summary = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            let memory = Memory::new(
                MemoryId::fresh(),
                owner.clone(),
                MemoryType::new(MemoryType::EPISODIC),
                summary.unwrap_or(text),
                Source::ExplicitUserInput,
                time,
            );
            let mut memory = if summary.is_some() {
                Memory { kind: MemoryKind::Summary, ..memory }
            } else {
                memory.of_turn(*text, Some("I see.".to_owned()))
            };
            memory.session_id = Some((*session).to_owned());
            store.store(memory, Vec::new(), &write).await.unwrap();
        }
        let recall = recall_on(store, Arc::new(DeterministicEmbedder::new(64)), Metrics::new());
        let selection = Selection { limit: 5, threshold: 0.6, types: Vec::new() };
        let now = Timestamp::UNIX_EPOCH + 24.hours();
        let request = crate::RecallRequest { session, ..request(&owner, &selection, now) };
        let query = Query::of(message, Date::default(), &QueryConfig::default());
        let retrieval = Retrieval { request: &request, query: &query, embedding: None };
        let hits = pipeline::search(&recall.services, &retrieval).await.unwrap();
        hits.into_iter().map(|hit| hit.memory.content).collect()
    }

    const TOLD: [(&str, &str); 4] = [
        ("monday", "I plant leeks"),
        ("tuesday", "The shed leaks"),
        ("tuesday", "It needs a new gutter"),
        ("now", "Good morning"),
    ];

    #[tokio::test]
    async fn a_message_that_takes_up_the_last_conversation_brings_its_last_turns() {
        for message in ["What did we talk about last time?", "我们上次聊了什么？"] {
            let shown = shown(message, Some("now"), &TOLD).await;
            assert_eq!(shown, ["It needs a new gutter", "The shed leaks"], "{message}");
        }
    }

    #[tokio::test]
    async fn where_the_last_conversation_has_a_summary_that_alone_is_brought() {
        let told = [&TOLD[..3], &[("tuesday", "[A leaking shed and its gutter]")]].concat();
        let shown = shown("What did we talk about last time?", Some("now"), &told).await;
        assert_eq!(shown, ["A leaking shed and its gutter"]);
    }

    #[tokio::test]
    async fn a_message_that_names_a_matter_brings_what_is_about_it_alone() {
        for message in ["The last time I saw my brother", "When did we last discuss the budget?"] {
            assert_eq!(shown(message, Some("now"), &TOLD).await, [""; 0], "{message}");
        }
    }
}

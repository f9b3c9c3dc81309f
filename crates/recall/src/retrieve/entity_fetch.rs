//! A second search, for memories that mention what the query names. What is nearest may leave them out.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{ranking::QueryNames, request::RecallRequest, services::Services};
use memgate_core::memory::{Evidence, Filter, MemoryId, Search};
use memgate_telemetry::{Metrics, RankStep};

/// How many of these memories are fetched, of each kind of evidence.
const MENTIONED: usize = 20;

/// The memories that mention what the query names, and how long the search took.
pub(super) type Mentioned = (Vec<Evidence>, Duration);

/// The best memories that mention what the text names. None where this is switched off, fails or is late: the nearest
/// memories are found all the same.
pub(super) async fn fetch_mentioned(
    services: &Services,
    request: &RecallRequest<'_>,
    text: &str,
    search: &Search,
) -> Option<Mentioned> {
    if !request.settings.ranking.fetch_entities {
        return None;
    }
    let started = Instant::now();
    let names = QueryNames::of(text).filter()?;
    let filter = Some(Filter::And(search.filter.iter().cloned().chain([names]).collect()));
    let search = Search { filter, limit: MENTIONED, ..search.clone() };
    let found = timeout_at(request.deadline, services.store.retrieve(&search)).await.ok()?.ok()?;
    Some((found, started.elapsed()))
}

/// Adds the mentioned memories that were not found yet.
pub(super) fn with_mentioned(
    mut evidence: Vec<Evidence>,
    mentioned: Option<Mentioned>,
    metrics: &Metrics,
) -> Vec<Evidence> {
    let Some((mentioned, took)) = mentioned else { return evidence };
    let known: HashSet<MemoryId> = evidence.iter().map(|it| it.memory.id.clone()).collect();
    let before = evidence.len();
    evidence.extend(mentioned.into_iter().filter(|it| !known.contains(&it.memory.id)));
    metrics.ranked(RankStep::EntityFetch, took, evidence.len() - before);
    evidence
}

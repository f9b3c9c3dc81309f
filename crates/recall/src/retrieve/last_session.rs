//! The newest memories of the user's last session, other than the one that asks.

use tokio::time::timeout_at;

use crate::{
    request::RecallRequest, retrieve::conversation::without_conversation, services::Services,
};
use memgate_core::memory::{Evidence, Filter, ListQuery, Memory, MemoryKind};

/// The newest memories that are looked at.
const LOOKED_AT: usize = 64;
/// The turns that say where a session stood.
const TURNS: usize = 3;

/// What says where the last session stood: its summary, else its last turns, else what was taken from them; newest first. A
/// store that fails or is late knows of none.
pub(crate) async fn last_session(services: &Services, request: &RecallRequest<'_>) -> Vec<Memory> {
    if !services.store.is_enabled() {
        return Vec::new();
    }
    let asking = request.session.map(|id| Filter::Not(Box::new(Filter::Session(id.to_owned()))));
    let query = ListQuery {
        scope: request.scope(),
        filter: Some(Filter::And(request.filter.iter().cloned().chain(asking).collect())),
        limit: LOOKED_AT,
        cursor: None,
        now: request.now,
    };
    let Ok(Ok(page)) = timeout_at(request.deadline, services.store.list(&query)).await else {
        return Vec::new();
    };
    let told = page.memories.into_iter().filter(|memory| !request.forgets(memory));
    let told = told.map(|memory| Evidence { memory, cosine: None, part: None, lexical: None });
    // A conversation whose session has no name is told by its words.
    let (told, _) = without_conversation(request.visible(told.collect()), request.earlier);
    let told: Vec<Memory> = told.into_iter().map(|it| it.memory).collect();
    let Some(last) = told.iter().find_map(|memory| memory.session_id.clone()) else {
        return Vec::new();
    };
    let of_session = |memory: &Memory| memory.session_id.as_ref() == Some(&last);
    let told: Vec<Memory> = told.into_iter().filter(of_session).collect();
    let of = |kind: MemoryKind, most: usize| -> Vec<Memory> {
        told.iter().filter(|it| it.kind == kind).take(most).cloned().collect()
    };
    let found = [of(MemoryKind::Summary, 1), of(MemoryKind::Turn, TURNS)];
    found.into_iter().find(|it| !it.is_empty()).unwrap_or(told)
}

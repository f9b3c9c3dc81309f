//! Whether a memory holds what a message asks about: then it is no question about the world, however much it looks like one.

use crate::{request::RecallRequest, retrieve::beside::search_beside, services::Services};
use memgate_core::memory::Search;

/// Memories that are looked at.
const LOOKED_AT: usize = 5;

/// The share of the message's weight in rare words that one memory must hold. docs/decisions/recall.md says what it gains and
/// costs on testdata/ordinary.
const COVERED: f32 = 0.6;

/// Whether a memory holds most of a message's rare words. A turn that told nothing does not count: it may be the same question.
/// A store that fails or is late knows of nothing.
pub(crate) async fn is_told_of(
    services: &Services,
    request: &RecallRequest<'_>,
    text: &str,
) -> bool {
    if !services.store.is_enabled() {
        return false;
    }
    let search = Search {
        scopes: Vec::new(),
        shared: None,
        filter: request.filter.clone(),
        vector: None,
        text: Some(text.to_owned()),
        limit: LOOKED_AT,
        now: request.now,
    };
    let Some(Ok(found)) = search_beside(services, request, search, false).await else {
        return false;
    };
    request.visible(found).iter().any(|found| {
        let covered = found.lexical.is_some_and(|lexical| lexical.coverage >= COVERED);
        covered && !found.memory.is_idle_turn() && !request.forgets(&found.memory)
    })
}

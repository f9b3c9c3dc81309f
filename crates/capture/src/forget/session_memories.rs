//! The memories of a session, whatever their status.

use crate::parts::Parts;
use memgate_core::memory::{
    Filter, ListQuery, Memory, MemoryId, Owner, ScopeQuery, Status, StoreError,
};

/// Memories that are read at once.
const PAGE: usize = 100;

/// The memories of a session that meet a filter and are wanted, of so many pages, the newest first.
pub(super) async fn of_session(
    parts: &Parts,
    owner: &Owner,
    session: &str,
    filter: Option<Filter>,
    pages: usize,
    wanted: impl Fn(&Memory) -> bool,
) -> Result<Vec<MemoryId>, StoreError> {
    let of_session = [Filter::Session(session.to_owned()), Filter::Status(Status::ALL.to_vec())];
    let mut query = ListQuery {
        scope: ScopeQuery::of(owner.clone()),
        filter: Some(Filter::And(of_session.into_iter().chain(filter).collect())),
        limit: PAGE,
        cursor: None,
        now: parts.journal.now(),
    };
    let mut found = Vec::new();
    for _ in 0..pages {
        let page = parts.writer.store.list(&query).await?;
        found.extend(page.memories.into_iter().filter(&wanted).map(|memory| memory.id));
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    Ok(found)
}

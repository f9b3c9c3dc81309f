//! Plain searches, by one kind of evidence alone: what ranking is compared with.

use anyhow::Result;
use jiff::Timestamp;

use crate::evaluation::Services;
use memgate_core::memory::{Evidence, MemoryId, Owner, QueryVector, ScopeQuery, Search};
use memgate_store::MAX_LIMIT;

/// The nearest memories of an owner by cosine, best first.
///
/// # Errors
/// When the store or the embedder fails.
pub(super) async fn by_cosine(
    memory: &Services,
    asked: (&Owner, &str, Timestamp),
) -> Result<Vec<MemoryId>> {
    let values = memory.embedder.embed_query(asked.1).await?;
    let vector = QueryVector { space: memory.embedder.space().id().into(), values };
    found(memory, asked, Some(vector), |it| it.cosine).await
}

/// The best memories of an owner by BM25, best first.
///
/// # Errors
/// When the store fails.
pub(super) async fn by_bm25(
    memory: &Services,
    asked: (&Owner, &str, Timestamp),
) -> Result<Vec<MemoryId>> {
    found(memory, asked, None, |it| Some(it.lexical?.bm25)).await
}

async fn found(
    memory: &Services,
    (owner, query, now): (&Owner, &str, Timestamp),
    vector: Option<QueryVector>,
    score: impl Fn(&Evidence) -> Option<f32>,
) -> Result<Vec<MemoryId>> {
    let search = Search {
        scopes: vec![ScopeQuery::of(owner.clone())],
        shared: None,
        filter: None,
        text: vector.is_none().then(|| query.to_owned()),
        vector,
        limit: MAX_LIMIT,
        now,
    };
    let mut found = memory.store.retrieve(&search).await?;
    let score = |it: &Evidence| score(it).unwrap_or(f32::MIN);
    found.sort_by(|a, b| score(b).total_cmp(&score(a)));
    Ok(found.into_iter().map(|it| it.memory.id).collect())
}

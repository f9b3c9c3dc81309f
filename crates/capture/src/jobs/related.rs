//! The stored memories that are related to what a user just said, and that it may correct.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{extract::llm::Shown, turn::StoredTurn, writer::MemoryWriter};
use memgate_core::memory::{
    Evidence, MemoryKind, MemoryType, QueryVector, ScopeQuery, Search, StoreError, Within,
};

/// The most that are given: each costs the helper model's time.
const MOST: usize = 20;

/// The most looked up for one message.
const FOR_ONE: usize = 4;

/// Bytes of a message by which memories are looked up.
const MAX_BYTES: usize = 2_000;

/// The contents of the facts nearest to what the user says in a part of a batch, the nearest first,
/// in the scope of its last turn. Without vectors they are found by their words.
pub(super) async fn related(
    writer: &MemoryWriter,
    last: &StoredTurn,
    part: &[Shown],
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let texts: Vec<String> = part
        .iter()
        .map(|shown| shown.user()[..shown.user().floor_char_boundary(MAX_BYTES)].to_owned())
        .collect();
    let vectors = match writer.embedder.embed_passages(texts.clone()).await {
        Ok(vectors) => vectors.into_iter().map(Some).collect(),
        Err(_) => vec![None; texts.len()],
    };
    let space: Arc<str> = writer.embedder.space().id().into();
    let mut found: Vec<Evidence> = Vec::new();
    for (text, values) in texts.into_iter().zip(vectors) {
        let search = Search {
            scopes: vec![ScopeQuery {
                projects: Within::visible_to(last.project.as_deref()),
                agents: Within::visible_to(last.agent.as_deref()),
                types: [MemoryType::SEMANTIC, MemoryType::PROCEDURAL].map(str::to_owned).to_vec(),
                ..ScopeQuery::of(last.owner.clone())
            }],
            shared: None,
            filter: None,
            vector: values.map(|values| QueryVector { space: space.clone(), values }),
            text: Some(text),
            limit: FOR_ONE,
            now,
        };
        found.extend(writer.store.retrieve(&search).await?);
    }
    found.sort_by(|a, b| b.cosine.unwrap_or(0.0).total_cmp(&a.cosine.unwrap_or(0.0)));
    let mut contents: Vec<String> = Vec::new();
    for Evidence { memory, .. } in found {
        let text = memory.text().into_owned();
        // A quotation may give orders to the model that reads this.
        let shown = memory.owner == last.owner && memory.kind != MemoryKind::Quotation;
        let new = shown && !contents.contains(&text);
        if new && contents.len() < MOST {
            contents.push(text);
        }
    }
    Ok(contents)
}

//! The search index of one owner: scopes and words. The database compares the vectors.

use std::{collections::HashMap, sync::Arc};

use tokio_postgres::Row;

use crate::{
    owner_cache::{Cached, OwnerCache},
    owner_documents::{Columns, Documents, Reader},
    postgres::{
        connection::{fault::Fault, transaction::Transaction},
        filter::in_use,
        rows::{get, name, text::decode},
    },
};
use memgate_text::index::Terms;

/// The index of an owner's memories in use, including expired ones.
pub(super) struct OwnerIndex {
    /// The owner's generation when it was read.
    generation: i64,
    pub(super) documents: Documents,
}

impl Cached for OwnerIndex {
    fn generation(&self) -> i64 {
        self.generation
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.documents.bytes()
    }
}

const DOCUMENTS: &str = concat!(
    "SELECT number, expires_at, type, project, agent, session, terms FROM memories \
     WHERE owner = $1 AND ",
    in_use!(),
    " ORDER BY created_at DESC, id DESC"
);

/// The owner's generation in this snapshot; `None` for an owner without memories.
pub(super) async fn generation(
    transaction: &Transaction,
    owner: &str,
) -> Result<Option<i64>, Fault> {
    let generation = "SELECT generation FROM owners WHERE owner = $1";
    let row = transaction.first(generation, &[&owner]).await?;
    row.map(|row| get(&row, 0, "generation")).transpose()
}

/// The owner's index in this snapshot, from the cache if it has this generation.
pub(super) async fn owner_index(
    transaction: &Transaction,
    cache: &OwnerCache<OwnerIndex>,
    owner: &str,
    generation: i64,
) -> Result<Arc<OwnerIndex>, Fault> {
    if let Some(index) = cache.get(owner, generation) {
        return Ok(index);
    }
    let rows = transaction.query(DOCUMENTS, &[&owner]).await?;
    let mut terms = Vec::with_capacity(rows.len());
    let mut outdated = Vec::new();
    for row in &rows {
        let stored = Terms::from_bytes(get(row, 6, "terms")?);
        if stored.is_none() {
            outdated.push(get::<i64>(row, 0, "number")?);
        }
        terms.push(stored);
    }
    let mut anew = if outdated.is_empty() {
        HashMap::new()
    } else {
        terms_of_contents(transaction, owner, &outdated).await?
    };
    let mut reader = Reader::default();
    for (row, stored) in rows.iter().zip(terms) {
        let number = get(row, 0, "number")?;
        let terms = stored.or_else(|| anew.remove(&number)).unwrap_or_default();
        push(&mut reader, row, number, terms)?;
    }
    let index = Arc::new(OwnerIndex { generation, documents: reader.finish() });
    cache.put(owner, &index);
    Ok(index)
}

fn push(reader: &mut Reader, row: &Row, number: i64, terms: Terms) -> Result<(), Fault> {
    let [project, agent, session] =
        [(3, "project"), (4, "agent"), (5, "session")].map(|(place, of)| name(row, place, of));
    let (project, agent, session) = (project?, agent?, session?);
    let columns = Columns {
        memory_type: get(row, 2, "type")?,
        project: project.as_deref(),
        agent: agent.as_deref(),
        session: session.as_deref(),
    };
    reader.push(number, get(row, 1, "expires_at")?, columns, terms);
    Ok(())
}

/// For terms stored by another tokeniser version.
async fn terms_of_contents(
    transaction: &Transaction,
    owner: &str,
    numbers: &[i64],
) -> Result<HashMap<i64, Terms>, Fault> {
    let contents = "SELECT number, content FROM memories WHERE owner = $1 AND number = ANY($2)";
    let rows = transaction.query(contents, &[&owner, &numbers]).await?;
    rows.iter()
        .map(|row| {
            let content = decode(get(row, 1, "content")?).ok_or(Fault::Unreadable("content"))?;
            Ok((get(row, 0, "number")?, Terms::of(&content)))
        })
        .collect()
}

//! The search index of one haystack: scopes and words. The database compares the vectors.

use std::{collections::HashMap, sync::Arc};

use tokio_postgres::Row;

use crate::{
    UnreadableRows,
    owner_cache::{Cached, IndexCache, SharedSet},
    owner_documents::{Columns, Documents, Haystack, Reader, shared_key},
    postgres::{
        connection::{fault::Fault, transaction::Transaction},
        filter::{Condition, in_use},
        rows::{COLUMNS, anyones_memory, columns, get, name, readable, readable_row},
    },
};
use memgate_core::memory::{self, SharedScope};
use memgate_text::index::Terms;

/// The index of a haystack's memories in use, including expired ones.
pub(super) struct OwnerIndex {
    /// The haystack's generation when it was read.
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
    "SELECT number, expires_at, type, project, agent, session, terms, id FROM memories \
     WHERE owner = $1 AND ",
    in_use!(),
    " ORDER BY created_at DESC, id DESC"
);

/// The haystack's generation in this snapshot; `None` where there are no memories.
pub(super) async fn generation(
    transaction: &Transaction,
    haystack: &Haystack<'_>,
) -> Result<Option<i64>, Fault> {
    let row = match haystack {
        Haystack::Owner(owner, _) => {
            let generation = "SELECT generation FROM owners WHERE owner = $1";
            transaction.first(generation, &[&owner.key()]).await?
        }
        Haystack::Shared(scope) => {
            let generation = "SELECT generation FROM shared WHERE tenant = $1";
            transaction.first(generation, &[&scope.reader.owner.tenant_key()]).await?
        }
    };
    row.map(|row| get(&row, 0, "generation")).transpose()
}

/// The haystack's index in this snapshot, from the cache if it has this generation.
pub(super) async fn index_of(
    transaction: &Transaction,
    cache: &IndexCache<OwnerIndex>,
    unreadable: &UnreadableRows,
    haystack: &Haystack<'_>,
    generation: i64,
) -> Result<Arc<OwnerIndex>, Fault> {
    let mut key = haystack.key();
    if haystack.is_shared()
        && let Some(set) = cache.readers.get(&key, generation)
        && let Some(index) = cache.indexes.get(&set.key, generation)
    {
        return Ok(index);
    }
    let _reading = match haystack {
        Haystack::Shared(_) => Some(cache.reading.lock().await),
        Haystack::Owner(..) => None,
    };
    if let Haystack::Shared(SharedScope { reader, .. }) = haystack {
        let set = match cache.readers.get(&key, generation) {
            Some(set) => set,
            None => {
                let rows = shared_rows(transaction, reader).await?;
                let set = Arc::new(SharedSet { generation, key: shared_key(reader, &rows) });
                cache.readers.put(&key, &set);
                set
            }
        };
        key.clone_from(&set.key);
    }
    if let Some(index) = cache.indexes.get(&key, generation) {
        return Ok(index);
    }
    let rows = match haystack {
        Haystack::Owner(..) => transaction.query(DOCUMENTS, &[&key]).await?,
        Haystack::Shared(scope) => {
            let condition = Condition::fair_share(&scope.reader);
            let sql = format!(
                "SELECT number, expires_at, type, project, agent, session, terms, id \
                 FROM memories WHERE {}",
                condition.sql
            );
            transaction.query_once(&sql, &condition.parameters()).await?
        }
    };
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
        terms_of_memories(transaction, unreadable, &outdated).await?
    };
    let mut reader = Reader::default();
    for (row, stored) in rows.iter().zip(terms) {
        let number = get(row, 0, "number")?;
        let terms = stored.or_else(|| anew.remove(&number)).unwrap_or_default();
        let id = get::<&str>(row, 7, "id").unwrap_or_default();
        readable(unreadable, id, push(&mut reader, row, number, terms))?;
    }
    let index = Arc::new(OwnerIndex { generation, documents: reader.finish() });
    cache.indexes.put(&key, &index);
    Ok(index)
}

/// The numbers of the memories in use that others share with a reader, newest first.
async fn shared_rows(
    transaction: &Transaction,
    reader: &memory::Reader,
) -> Result<Vec<i64>, Fault> {
    let condition = Condition::fair_share(reader);
    let sql = format!("SELECT number FROM memories WHERE {}", condition.sql);
    let rows = transaction.query_once(&sql, &condition.parameters()).await?;
    rows.iter().map(|row| get(row, 0, "number")).collect()
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
async fn terms_of_memories(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    numbers: &[i64],
) -> Result<HashMap<i64, Terms>, Fault> {
    const MEMORIES: &str =
        concat!("SELECT ", columns!(), ", number FROM memories WHERE number = ANY($1)");
    let mut terms = HashMap::new();
    for row in transaction.query(MEMORIES, &[&numbers]).await? {
        if let Some(memory) = readable_row(unreadable, &row, anyones_memory)? {
            terms.insert(get(&row, COLUMNS, "number")?, memory.terms());
        }
    }
    Ok(terms)
}

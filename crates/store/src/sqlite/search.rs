//! Reads: searches, lists, counts. Each uses one snapshot of the file.

use std::{collections::HashSet, sync::Arc};

use rusqlite::{Connection, OptionalExtension, params_from_iter, types::Value};

use crate::{
    MAX_LIMIT, UnreadableRows,
    micros::micros,
    owner_cache::{IndexCache, SharedSet},
    owner_documents::{Haystack, haystacks, shared_key},
    sqlite::{
        filter::Condition,
        index::{OwnerIndex, space_number},
        rows::{COLUMNS, anyones_memory, memory, readable_row},
    },
    top_k::{Candidate, top_k_apart},
};
use memgate_core::memory::{
    Counts, Cursor, Evidence, Filter, ListQuery, Memory, Owner, Page, Reader, ScopeQuery, Search,
    SharedScope,
};
use memgate_text::index::QueryTerms;

/// The evidence for a search.
pub(super) fn retrieve(
    connection: &Connection,
    cache: &IndexCache<OwnerIndex>,
    unreadable: &UnreadableRows,
    search: &Search,
) -> rusqlite::Result<Vec<Evidence>> {
    let limit = search.limit.min(MAX_LIMIT);
    let for_nothing = search.vector.is_none() && search.text.is_none();
    if for_nothing && search.shared.is_none() {
        return newest(connection, unreadable, search, limit);
    }
    let query = search.text.as_deref().and_then(QueryTerms::of);
    let now = micros(search.now);
    let mut candidates = Vec::new();
    let haystacks = haystacks(search);
    for (number, haystack) in haystacks.iter().enumerate() {
        let Some(index) = index_of(connection, cache, unreadable, haystack, search)? else {
            continue;
        };
        let allowed = allowed(connection, haystack, search)?;
        let cosines = match &search.vector {
            Some(vector) => index.cosines(connection, vector)?,
            None => Vec::new(),
        };
        let scores = query.as_ref().map(|query| index.documents.score(query, haystack, now));
        let first = candidates.len();
        for (place, document) in index.documents.all().iter().enumerate() {
            if !document.is_expired(now)
                && document.is_in(haystack)
                && allowed.as_ref().is_none_or(|allowed| allowed.contains(&document.row))
            {
                candidates.push(Candidate {
                    place: (number, document.row),
                    cosine: cosines.get(place).copied().flatten(),
                    lexical: scores.as_ref().map(|scores| scores[place]),
                });
                // They are the newest first.
                if for_nothing && candidates.len() - first == limit {
                    break;
                }
            }
        }
    }
    let is_shared = |candidate: &Candidate<(usize, i64)>| haystacks[candidate.place.0].is_shared();
    let chosen = if for_nothing { candidates } else { top_k_apart(candidates, limit, is_shared) };
    let mut found = Vec::with_capacity(chosen.len());
    for candidate in chosen {
        let (number, row) = candidate.place;
        let Some(memory) = by_row(connection, unreadable, &haystacks[number], row)? else {
            continue;
        };
        found.push(Evidence {
            memory,
            cosine: candidate.cosine.map(|(cosine, _)| cosine),
            part: candidate.cosine.map(|(_, part)| part),
            lexical: candidate.lexical,
        });
    }
    if for_nothing {
        found.sort_by(|a, b| newest_first(&a.memory, &b.memory));
        found.truncate(limit);
    }
    Ok(found)
}

/// The haystack's index for this snapshot, cached if possible; `None` where there are no memories.
fn index_of(
    connection: &Connection,
    cache: &IndexCache<OwnerIndex>,
    unreadable: &UnreadableRows,
    haystack: &Haystack<'_>,
    search: &Search,
) -> rusqlite::Result<Option<Arc<OwnerIndex>>> {
    let mut key = haystack.key();
    let generation = match haystack {
        Haystack::Owner(..) => connection
            .prepare_cached("SELECT generation FROM owners WHERE owner = ?1")?
            .query_row([&key], |row| row.get(0)),
        Haystack::Shared(scope) => connection
            .prepare_cached("SELECT generation FROM shared WHERE tenant = ?1")?
            .query_row([scope.reader.owner.tenant_key()], |row| row.get(0)),
    };
    let generation = generation.optional()?;
    let Some(generation) = generation else { return Ok(None) };
    if let Haystack::Shared(SharedScope { reader, .. }) = haystack {
        let set = match cache.readers.get(&key, generation) {
            Some(set) => set,
            None => {
                let rows = shared_rows(connection, reader)?;
                let set = SharedSet { generation, key: shared_key(reader, &rows) };
                let set = Arc::new(set);
                cache.readers.put(&key, &set);
                set
            }
        };
        key.clone_from(&set.key);
    }
    let space = search.vector.as_ref().map(|vector| &vector.space);
    let cached = cache.indexes.get(&key, generation);
    if let Some(index) = cached.filter(|index| index.answers(space.map(|space| &**space))) {
        return Ok(Some(index));
    }
    let bound = cache.indexes.entry_bound();
    let index = OwnerIndex::read(connection, unreadable, haystack, generation, space, bound)?;
    let index = Arc::new(index);
    cache.indexes.put(&key, &index);
    Ok(Some(index))
}

/// The rows in use that others share with a reader, newest first.
fn shared_rows(connection: &Connection, reader: &Reader) -> rusqlite::Result<Vec<i64>> {
    let Condition { sql, values, .. } = Condition::fair_share(reader);
    let sql = format!("SELECT row FROM memories WHERE {sql}");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(params_from_iter(values), |row| row.get(0))?.collect()
}

/// The rows that match the search's filter; `None` without a filter.
fn allowed(
    connection: &Connection,
    haystack: &Haystack<'_>,
    search: &Search,
) -> rusqlite::Result<Option<HashSet<i64>>> {
    if search.filter.is_none() {
        return Ok(None);
    }
    let condition = match haystack {
        Haystack::Owner(owner, _) => {
            Condition::scope(&ScopeQuery::of((*owner).clone()), search.now)
        }
        Haystack::Shared(scope) => Condition::shared(&scope.reader).unexpired(search.now),
    };
    let condition = condition.in_use().filtered(search.filter.as_ref());
    let sql = format!("SELECT row FROM memories WHERE {}", condition.sql);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(condition.values), |row| row.get(0))?;
    rows.collect::<rusqlite::Result<_>>().map(Some)
}

/// The newest memories of all scopes, for a search without a query.
fn newest(
    connection: &Connection,
    unreadable: &UnreadableRows,
    search: &Search,
    limit: usize,
) -> rusqlite::Result<Vec<Evidence>> {
    let mut memories = Vec::new();
    let mut seen = HashSet::new();
    for scope in &search.scopes {
        let condition = Condition::scope(scope, search.now)
            .in_use()
            .searched(scope)
            .filtered(search.filter.as_ref());
        for memory in page(connection, unreadable, &scope.owner, condition, limit)? {
            if seen.insert((scope.owner.clone(), memory.id.clone())) {
                memories.push(memory);
            }
        }
    }
    memories.sort_by(newest_first);
    memories.truncate(limit);
    let evidence = |memory| Evidence { memory, cosine: None, part: None, lexical: None };
    Ok(memories.into_iter().map(evidence).collect())
}

fn newest_first(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    (b.created_at, &b.id).cmp(&(a.created_at, &a.id))
}

/// A page of a list.
pub(super) fn list(
    connection: &Connection,
    unreadable: &UnreadableRows,
    query: &ListQuery,
) -> rusqlite::Result<Page> {
    let limit = query.limit.min(MAX_LIMIT);
    let mut condition = listed(&query.scope, query.filter.as_ref(), query.now);
    if let Some(cursor) = &query.cursor {
        condition.test(" AND (created_at, id) < (", micros(cursor.created_at));
        condition.test(", ", cursor.id.as_str().to_owned());
        condition.sql.push(')');
    }
    let mut memories = page(connection, unreadable, &query.scope.owner, condition, limit + 1)?;
    let more = memories.len() > limit;
    memories.truncate(limit);
    let last = memories.last().filter(|_| more);
    let next = last.map(|last| Cursor { created_at: last.created_at, id: last.id.clone() });
    Ok(Page { memories, next })
}

/// The condition of lists and counts: without a status filter, only memories in use.
fn listed(scope: &ScopeQuery, filter: Option<&Filter>, now: jiff::Timestamp) -> Condition {
    let condition = Condition::scope(scope, now);
    let any_status = filter.is_some_and(Filter::mentions_status);
    let condition = if any_status { condition } else { condition.in_use() };
    condition.filtered(filter)
}

/// The newest `limit` memories that can be read. The limit is none of the statement's: rows that are passed over do not
/// count.
fn page(
    connection: &Connection,
    unreadable: &UnreadableRows,
    owner: &Owner,
    condition: Condition,
    limit: usize,
) -> rusqlite::Result<Vec<Memory>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM memories WHERE {} ORDER BY created_at DESC, id DESC",
        condition.sql
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(condition.values))?;
    let mut memories = Vec::new();
    while memories.len() < limit
        && let Some(row) = rows.next()?
    {
        memories.extend(readable_row(unreadable, row, |row| memory(row, owner))?);
    }
    Ok(memories)
}

/// Counts of a scope.
pub(super) fn count(
    connection: &Connection,
    scope: &ScopeQuery,
    filter: Option<&Filter>,
    space: &str,
    now: jiff::Timestamp,
) -> rusqlite::Result<Counts> {
    let mut values = vec![Value::from(space_number(connection, space)?)];
    let condition = listed(scope, filter, now);
    values.extend(condition.values);
    let sql = format!(
        "SELECT count(*), count(nullif(EXISTS (SELECT 1 FROM vectors \
             WHERE memory = memories.row AND space = ? AND part = 0), 0)) \
         FROM memories WHERE {}",
        condition.sql
    );
    connection.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| {
        let number = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(Counts { total: number(0)?, embedded: number(1)? })
    })
}

fn by_row(
    connection: &Connection,
    unreadable: &UnreadableRows,
    haystack: &Haystack<'_>,
    row: i64,
) -> rusqlite::Result<Option<Memory>> {
    connection.prepare_cached(&format!("SELECT {COLUMNS} FROM memories WHERE row = ?1"))?.query_row(
        [row],
        |row| {
            readable_row(unreadable, row, |row| match haystack {
                Haystack::Owner(owner, _) => memory(row, owner),
                Haystack::Shared(_) => anyones_memory(row),
            })
        },
    )
}

/// One memory and its row; `None` if the owner has no such memory.
pub(super) fn by_id(
    connection: &Connection,
    owner: &Owner,
    id: &str,
) -> rusqlite::Result<Option<(i64, Memory)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, row FROM memories WHERE owner = ?1 AND id = ?2"
        ))?
        .query_row((owner.key(), id), |row| Ok((row.get("row")?, memory(row, owner)?)))
        .optional()
}

/// All versions of a memory, newest first; `None` if the owner has no such memory.
pub(super) fn history(
    connection: &Connection,
    unreadable: &UnreadableRows,
    owner: &Owner,
    id: &str,
) -> rusqlite::Result<Option<Vec<Memory>>> {
    let Some((row, current)) = by_id(connection, owner, id)? else { return Ok(None) };
    let mut versions = vec![current];
    let sql = format!("SELECT {COLUMNS} FROM versions WHERE memory = ?1 ORDER BY version DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([row])?;
    while let Some(row) = rows.next()? {
        versions.extend(readable_row(unreadable, row, |row| memory(row, owner))?);
    }
    Ok(Some(versions))
}

/// The embedding spaces of a memory, sorted; `None` if the owner has no such memory.
pub(super) fn spaces(
    connection: &Connection,
    owner: &Owner,
    id: &str,
) -> rusqlite::Result<Option<Vec<String>>> {
    let Some((row, _)) = by_id(connection, owner, id)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT name FROM vectors JOIN spaces USING (space) WHERE memory = ?1 ORDER BY name",
    )?;
    let names = statement.query_map([row], |row| row.get(0))?;
    names.collect::<rusqlite::Result<_>>().map(Some)
}

//! Reads: searches, lists, counts. Each uses one snapshot of the database.

use std::collections::{HashMap, HashSet};

use futures_util::future::{try_join, try_join3};
use tokio_postgres::types::Type;

use crate::{
    MAX_LIMIT, UnreadableRows, dense,
    micros::micros,
    owner_cache::IndexCache,
    owner_documents::{Haystack, haystacks},
    postgres::{
        connection::{
            fault::Fault,
            transaction::{Parameter, Transaction},
        },
        filter::Condition,
        index::{OwnerIndex, generation, index_of},
        rows::{COLUMNS, anyones_memory, columns, get, memory, readable_row, stored, text::decode},
    },
    sql::private,
    top_k::{Candidate, top_k_apart},
};
use memgate_core::memory::{
    Counts, Cursor, Evidence, Filter, ListQuery, Memory, Owner, Page, QueryVector, ScopeQuery,
    Search,
};
use memgate_text::index::QueryTerms;

/// Maximum dimension of a vector: a limit of pgvector.
pub(super) const MAX_DIMENSION: usize = 16_000;

/// The best cosine of a memory with its part, by the memory's number.
type Cosines = HashMap<i64, (f32, u16)>;

/// The evidence for a search. The transaction may be for any of its owners.
pub(super) async fn retrieve(
    transaction: &Transaction,
    cache: &IndexCache<OwnerIndex>,
    unreadable: &UnreadableRows,
    search: &Search,
) -> Result<Vec<Evidence>, Fault> {
    let limit = search.limit.min(MAX_LIMIT);
    let for_nothing = search.vector.is_none() && search.text.is_none();
    if for_nothing && search.shared.is_none() {
        return newest(transaction, unreadable, search, limit).await;
    }
    let query = search.text.as_deref().and_then(QueryTerms::of);
    let now = micros(search.now);
    let haystacks = haystacks(search);
    let mut candidates = Vec::new();
    for (place, haystack) in haystacks.iter().enumerate() {
        act_for(transaction, haystack)?;
        let (index, cosines, allowed) = if haystack.is_shared() {
            // Nothing else is asked where nothing is shared.
            let Some(generation) = generation(transaction, haystack).await? else { continue };
            let index = index_of(transaction, cache, unreadable, haystack, generation).await?;
            let searched: Vec<i64> = index.documents.all().iter().map(|it| it.row).collect();
            let (cosines, allowed) = try_join(
                cosines(transaction, haystack, search.vector.as_ref(), &searched),
                allowed(transaction, haystack, search),
            )
            .await?;
            (index, cosines, allowed)
        } else {
            let (generation, cosines, allowed) = try_join3(
                generation(transaction, haystack),
                cosines(transaction, haystack, search.vector.as_ref(), &[]),
                allowed(transaction, haystack, search),
            )
            .await?;
            let Some(generation) = generation else { continue };
            let index = index_of(transaction, cache, unreadable, haystack, generation).await?;
            (index, cosines, allowed)
        };
        let scores = query.as_ref().map(|query| index.documents.score(query, haystack, now));
        let first = candidates.len();
        for (at, document) in index.documents.all().iter().enumerate() {
            if !document.is_expired(now)
                && document.is_in(haystack)
                && allowed.as_ref().is_none_or(|allowed| allowed.contains(&document.row))
            {
                candidates.push(Candidate {
                    place: (place, document.row),
                    cosine: cosines.get(&document.row).copied(),
                    lexical: scores.as_ref().map(|scores| scores[at]),
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
    let mut memories = HashMap::new();
    for (place, haystack) in haystacks.iter().enumerate() {
        let of = chosen.iter().filter(|candidate| candidate.place.0 == place);
        let numbers: Vec<i64> = of.map(|candidate| candidate.place.1).collect();
        if !numbers.is_empty() {
            let found = by_numbers(transaction, unreadable, haystack, &numbers).await?;
            memories.extend(found.into_iter().map(|(number, memory)| ((place, number), memory)));
        }
    }
    let evidence = chosen.into_iter().filter_map(|candidate| {
        Some(Evidence {
            memory: memories.remove(&candidate.place)?,
            cosine: candidate.cosine.map(|(cosine, _)| cosine),
            part: candidate.cosine.map(|(_, part)| part),
            lexical: candidate.lexical,
        })
    });
    let mut found: Vec<Evidence> = evidence.collect();
    if for_nothing {
        found.sort_by(|a, b| newest_first(&a.memory, &b.memory));
        found.truncate(limit);
    }
    Ok(found)
}

/// Statements sent from now on are for this haystack.
fn act_for(transaction: &Transaction, haystack: &Haystack<'_>) -> Result<(), Fault> {
    match haystack {
        Haystack::Owner(owner, _) => transaction.act_for(&owner.key()),
        Haystack::Shared(scope) => transaction.act_for_reader(&scope.reader),
    }
}

fn newest_first(a: &Memory, b: &Memory) -> std::cmp::Ordering {
    (b.created_at, &b.id).cmp(&(a.created_at, &a.id))
}

/// The query's vector is read once, not once a row. A vector of another dimension has no cosine.
const COSINES: &str = "SELECT memory, part, CASE WHEN vector_dims(coordinates) = $4 \
     THEN -(coordinates <#> (SELECT $3::real[]::vector)) END FROM vectors \
     WHERE owner = $1 AND space = (SELECT space FROM spaces WHERE name = $2) \
     ORDER BY memory, part";

const SHARED_COSINES: &str = concat!(
    "SELECT memory, part, CASE WHEN vector_dims(coordinates) = $4 \
         THEN -(coordinates <#> (SELECT $3::real[]::vector)) END FROM vectors \
         JOIN memories ON memories.owner = vectors.owner AND memories.number = vectors.memory \
         WHERE memories.tenant = $1 AND memories.visibility <> ",
    private!(),
    " AND memories.number IN (SELECT unnest($5::bigint[])) \
         AND vectors.space = (SELECT space FROM spaces WHERE name = $2) ORDER BY memory, part"
);

/// The best cosine of each of a haystack's memories; of what others share, only those with these numbers.
async fn cosines(
    transaction: &Transaction,
    haystack: &Haystack<'_>,
    query: Option<&QueryVector>,
    searched: &[i64],
) -> Result<Cosines, Fault> {
    let mut cosines = Cosines::new();
    let Some(QueryVector { space, values }) = query else { return Ok(cosines) };
    // pgvector refuses what no stored vector can be compared with.
    let comparable = (1..=MAX_DIMENSION).contains(&values.len());
    if !comparable || !values.iter().all(|value| value.is_finite()) {
        return Ok(cosines);
    }
    let dimension = i32::try_from(values.len()).unwrap_or(i32::MAX);
    let (space, values) = (stored(space), &values[..]);
    let rows = match haystack {
        Haystack::Owner(owner, _) => {
            transaction.query(COSINES, &[&owner.key(), &space, &values, &dimension]).await?
        }
        Haystack::Shared(scope) => {
            let tenant = scope.reader.owner.tenant_key();
            let parameters: [Parameter<'_>; 5] = [
                (&tenant, Type::TEXT),
                (&space, Type::TEXT),
                (&values, Type::FLOAT4_ARRAY),
                (&dimension, Type::INT4),
                (&searched, Type::INT8_ARRAY),
            ];
            // Planned for as many numbers as there are.
            transaction.query_once(SHARED_COSINES, &parameters).await?
        }
    };
    for row in rows {
        let Some(product) = get::<Option<f64>>(&row, 2, "cosine")? else { continue };
        let memory: i64 = get(&row, 0, "number")?;
        let Ok(part) = u16::try_from(get::<i16>(&row, 1, "part")?) else { continue };
        let mut best = cosines.get(&memory).copied();
        // Rounding can exceed the bounds slightly.
        dense::keep_best(&mut best, ((product as f32).clamp(-1.0, 1.0), part));
        cosines.extend(best.map(|best| (memory, best)));
    }
    Ok(cosines)
}

/// The memories that match the search's filter; `None` without a filter.
async fn allowed(
    transaction: &Transaction,
    haystack: &Haystack<'_>,
    search: &Search,
) -> Result<Option<HashSet<i64>>, Fault> {
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
    let sql = format!("SELECT number FROM memories WHERE {}", condition.sql);
    let rows = transaction.query_once(&sql, &condition.parameters()).await?;
    rows.iter().map(|row| get(row, 0, "number")).collect::<Result<_, _>>().map(Some)
}

/// The newest memories of all scopes, for a search without a query.
async fn newest(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    search: &Search,
    limit: usize,
) -> Result<Vec<Evidence>, Fault> {
    let mut memories = Vec::new();
    let mut seen = HashSet::new();
    for scope in &search.scopes {
        transaction.act_for(&scope.owner.key())?;
        let condition = Condition::scope(scope, search.now)
            .in_use()
            .searched(scope)
            .filtered(search.filter.as_ref());
        for memory in page(transaction, unreadable, &scope.owner, condition, limit).await? {
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

/// A page of a list.
pub(super) async fn list(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    query: &ListQuery,
) -> Result<Page, Fault> {
    let limit = query.limit.min(MAX_LIMIT);
    let mut condition = listed(&query.scope, query.filter.as_ref(), query.now);
    if let Some(cursor) = &query.cursor {
        condition.number(" AND (created_at, id) < (", micros(cursor.created_at));
        condition.text(", ", stored(cursor.id.as_str()));
        condition.sql.push(')');
    }
    let owner = &query.scope.owner;
    let mut memories = page(transaction, unreadable, owner, condition, limit + 1).await?;
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

/// The newest `limit` memories that can be read. For rows that are passed over, more are read.
async fn page(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    owner: &Owner,
    condition: Condition,
    limit: usize,
) -> Result<Vec<Memory>, Fault> {
    let (mut memories, mut read) = (Vec::new(), 0);
    loop {
        let left = limit - memories.len();
        let sql = format!(
            "SELECT {} FROM memories WHERE {} ORDER BY created_at DESC, id DESC LIMIT {left} OFFSET {read}",
            columns!(),
            condition.sql
        );
        let rows = transaction.query_once(&sql, &condition.parameters()).await?;
        for row in &rows {
            memories.extend(readable_row(unreadable, row, |row| memory(row, owner))?);
        }
        read += rows.len();
        if rows.len() < left || memories.len() >= limit {
            return Ok(memories);
        }
    }
}

/// Counts of a scope.
pub(super) async fn count(
    transaction: &Transaction,
    scope: &ScopeQuery,
    filter: Option<&Filter>,
    space: &str,
    now: jiff::Timestamp,
) -> Result<Counts, Fault> {
    let condition = listed(scope, filter, now);
    let space = stored(space);
    let mut parameters: Vec<Parameter<'_>> = condition.parameters();
    parameters.push((&space, Type::TEXT));
    let sql = format!(
        "SELECT count(*), count((SELECT part FROM vectors \
             WHERE vectors.owner = memories.owner AND vectors.memory = memories.number \
             AND vectors.part = 0 \
             AND vectors.space = (SELECT space FROM spaces WHERE name = ${}))) \
         FROM memories WHERE {}",
        parameters.len(),
        condition.sql
    );
    let rows = transaction.query_once(&sql, &parameters).await?;
    let Some(row) = rows.first() else { return Ok(Counts::default()) };
    let number = |place| get::<i64>(row, place, "count").map(i64::unsigned_abs);
    Ok(Counts { total: number(0)?, embedded: number(1)? })
}

const BY_NUMBERS: &str =
    concat!("SELECT ", columns!(), ", number FROM memories WHERE owner = $1 AND number = ANY($2)");

const SHARED_BY_NUMBERS: &str = concat!(
    "SELECT ",
    columns!(),
    ", number FROM memories WHERE tenant = $1 AND visibility <> ",
    private!(),
    " AND number = ANY($2)"
);

/// Memories of a haystack by their numbers, which are unique among all owners.
async fn by_numbers(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    haystack: &Haystack<'_>,
    numbers: &[i64],
) -> Result<Vec<(i64, Memory)>, Fault> {
    act_for(transaction, haystack)?;
    let rows = match haystack {
        Haystack::Owner(owner, _) => {
            transaction.query(BY_NUMBERS, &[&owner.key(), &numbers]).await?
        }
        Haystack::Shared(scope) => {
            let tenant = scope.reader.owner.tenant_key();
            transaction.query(SHARED_BY_NUMBERS, &[&tenant, &numbers]).await?
        }
    };
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let memory = readable_row(unreadable, row, |row| match haystack {
            Haystack::Owner(owner, _) => memory(row, owner),
            Haystack::Shared(_) => anyones_memory(row),
        })?;
        if let Some(memory) = memory {
            found.push((get(row, COLUMNS, "number")?, memory));
        }
    }
    Ok(found)
}

const BY_ID: &str =
    concat!("SELECT ", columns!(), ", number FROM memories WHERE owner = $1 AND id = $2");

/// One memory and its number; `None` if the owner has no such memory.
pub(super) async fn by_id(
    transaction: &Transaction,
    owner: &Owner,
    id: &str,
) -> Result<Option<(i64, Memory)>, Fault> {
    let row = transaction.first(BY_ID, &[&owner.key(), &stored(id)]).await?;
    row.map(|row| Ok((get(&row, COLUMNS, "number")?, memory(&row, owner)?))).transpose()
}

const VERSIONS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM versions WHERE owner = $1 AND memory = $2 ORDER BY version DESC"
);

/// The earlier versions of a memory, newest first.
pub(super) async fn earlier(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    owner: &Owner,
    number: i64,
) -> Result<Vec<Memory>, Fault> {
    let rows = transaction.query(VERSIONS, &[&owner.key(), &number]).await?;
    let versions =
        rows.iter().map(|row| readable_row(unreadable, row, |row| memory(row, owner)).transpose());
    versions.flatten().collect()
}

/// All versions of a memory, newest first; `None` if the owner has no such memory.
pub(super) async fn history(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    owner: &Owner,
    id: &str,
) -> Result<Option<Vec<Memory>>, Fault> {
    let Some((number, current)) = by_id(transaction, owner, id).await? else { return Ok(None) };
    let mut versions = vec![current];
    versions.extend(earlier(transaction, unreadable, owner, number).await?);
    Ok(Some(versions))
}

const SPACES: &str = "SELECT DISTINCT name FROM vectors JOIN spaces USING (space) \
     WHERE owner = $1 AND memory = $2";

/// The embedding spaces of a memory, sorted; `None` if the owner has no such memory.
pub(super) async fn spaces(
    transaction: &Transaction,
    owner: &Owner,
    id: &str,
) -> Result<Option<Vec<String>>, Fault> {
    let Some((number, _)) = by_id(transaction, owner, id).await? else { return Ok(None) };
    let rows = transaction.query(SPACES, &[&owner.key(), &number]).await?;
    let names =
        rows.iter().map(|row| decode(get(row, 0, "space")?).ok_or(Fault::Unreadable("space")));
    let mut names = names.collect::<Result<Vec<String>, Fault>>()?;
    names.sort_unstable();
    Ok(Some(names))
}

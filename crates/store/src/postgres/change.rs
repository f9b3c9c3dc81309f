//! Writes. Each function is one transaction, which the caller commits. It begins by locking the
//! owner, so that of two writers one waits for the other and then sees what the other wrote.

use std::{
    collections::{BTreeMap, HashSet},
    sync::LazyLock,
};

use futures_util::future::try_join_all;
use jiff::Timestamp;

use crate::{
    micros::micros,
    postgres::{
        connection::{fault::Fault, transaction::Transaction},
        rows::{
            COLUMNS, columns, derived_columns, get, json, labels::labels, stored, values,
            write_columns,
        },
        search::{MAX_DIMENSION, by_id},
    },
    validate::{self, MAX_ACCESS_COUNT, to_microsecond},
};
use memgate_core::memory::{
    Embedding, ForgetScope, Memory, MemoryId, Owner, StoreError, Touch, Write,
};

/// Number of values of a memory with its write, and with the derived columns.
const WRITTEN: usize = COLUMNS + 3;
const DERIVED: usize = WRITTEN + 3;

/// The parameters `$1` to `$count`.
fn places(count: usize) -> String {
    (1..=count).map(|place| format!("${place}")).collect::<Vec<_>>().join(", ")
}

/// Locks an owner for a new memory.
async fn lock_for_new(transaction: &Transaction, owner: &Owner) -> Result<(), Fault> {
    let lock = "INSERT INTO owners (owner, generation) VALUES ($1, nextval('generations')) \
         ON CONFLICT (owner) DO UPDATE SET generation = excluded.generation";
    transaction.execute(lock, &[&owner.key()]).await.map(drop)
}

/// Locks an owner; returns whether they have memories.
async fn lock(transaction: &Transaction, owner: &Owner) -> Result<bool, Fault> {
    let lock = "UPDATE owners SET generation = nextval('generations') WHERE owner = $1";
    Ok(transaction.execute(lock, &[&owner.key()]).await? > 0)
}

/// Locks the owner of a memory and reads it with its number, if its version is the one that the
/// caller read.
async fn lock_version(transaction: &Transaction, changed: &Memory) -> Result<(i64, Memory), Fault> {
    if !lock(transaction, &changed.owner).await? {
        return Err(StoreError::NotFound.into());
    }
    let found = by_id(transaction, &changed.owner, changed.id.as_str()).await?;
    let (number, stored) = found.ok_or(StoreError::NotFound)?;
    validate::same_version(changed.version, stored.version)?;
    Ok((number, stored))
}

/// Inserts a new memory; returns its number, or `None` if its owner already has one with this id.
pub(super) async fn insert(
    transaction: &Transaction,
    memory: &Memory,
    vectors: &[Embedding],
    write: &Write,
) -> Result<Option<i64>, Fault> {
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        let (columns, write, derived) = (columns!(), write_columns!(), derived_columns!());
        format!(
            "INSERT INTO memories ({columns}, {write}, {derived}) VALUES ({}) \
             ON CONFLICT (owner, id) DO NOTHING RETURNING number",
            places(DERIVED)
        )
    });
    lock_for_new(transaction, &memory.owner).await?;
    let row = values(memory, write)?.derived(memory);
    let Some(row) = transaction.first(&INSERT, &row.all()).await? else { return Ok(None) };
    let number = get(&row, 0, "number")?;
    put_vectors(transaction, &memory.owner, number, vectors).await?;
    Ok(Some(number))
}

/// Inserts an earlier version of a memory.
pub(super) async fn insert_version(
    transaction: &Transaction,
    number: i64,
    version: &Memory,
    write: &Write,
) -> Result<(), Fault> {
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        let (columns, write) = (columns!(), write_columns!());
        let places = places(WRITTEN + 1);
        format!("INSERT INTO versions ({columns}, {write}, memory) VALUES ({places})")
    });
    let row = values(version, write)?.and(number);
    transaction.execute(&INSERT, &row.all()).await.map(drop)
}

/// Writes a new version of a memory, and the old one to the history. Returns the memory, and its
/// number if it may have become one to embed.
pub(super) async fn update(
    transaction: &Transaction,
    mut memory: Memory,
    vectors: Option<&[Embedding]>,
    write: &Write,
) -> Result<(Memory, Option<i64>), Fault> {
    const KEEP: &str = concat!(
        "INSERT INTO versions (memory, ",
        columns!(),
        ", ",
        write_columns!(),
        ") SELECT number, ",
        columns!(),
        ", ",
        write_columns!(),
        " FROM memories WHERE owner = $1 AND number = $2"
    );
    static CHANGE: LazyLock<String> = LazyLock::new(|| {
        let (columns, write, derived) = (columns!(), write_columns!(), derived_columns!());
        format!(
            "UPDATE memories SET ({columns}, {write}, {derived}) = ROW ({}) \
             WHERE owner = $1 AND number = ${}",
            places(DERIVED),
            DERIVED + 1
        )
    });
    let (number, old) = lock_version(transaction, &memory).await?;
    validate::succeed(&mut memory, &old)?;
    let owner = memory.owner.key();
    transaction.execute(KEEP, &[&owner, &number]).await?;
    let row = values(&memory, write)?.derived(&memory).and(number);
    transaction.execute(&CHANGE, &row.all()).await?;
    let replaced = vectors.is_some() || old.passages() != memory.passages();
    if replaced {
        let remove = "DELETE FROM vectors WHERE owner = $1 AND memory = $2";
        transaction.execute(remove, &[&owner, &number]).await?;
        let vectors = vectors.unwrap_or_default();
        put_vectors(transaction, &memory.owner, number, vectors).await?;
    }
    let back_in_use = memory.status.is_in_use() && !old.status.is_in_use();
    Ok((memory, (replaced || back_in_use).then_some(number)))
}

/// Updates the amendable columns of a memory in place.
pub(super) async fn amend(transaction: &Transaction, memory: Memory) -> Result<(), Fault> {
    let change = "UPDATE memories SET session = $3, confidence = $4, metadata = $5, \
         provenance = $6, labels = $7 WHERE owner = $1 AND number = $2";
    let (number, mut amended) = lock_version(transaction, &memory).await?;
    validate::amend(&mut amended, memory);
    let (owner, session) = (amended.owner.key(), amended.session_id.as_deref().map(stored));
    let (metadata, provenance) = (json(&amended.metadata)?, json(&amended.provenance)?);
    let labels = labels(&amended);
    transaction
        .execute(
            change,
            &[&owner, &number, &session, &amended.confidence, &metadata, &provenance, &labels],
        )
        .await
        .map(drop)
}

/// Moves the expiry of an owner's memories that expire.
pub(super) async fn keep_until(
    transaction: &Transaction,
    owner: &Owner,
    until: Timestamp,
    now: Timestamp,
) -> Result<(), Fault> {
    let keep = "UPDATE memories SET expires_at = greatest(expires_at, $2) \
         WHERE owner = $1 AND expires_at > $3";
    if lock(transaction, owner).await? {
        transaction.execute(keep, &[&owner.key(), &micros(until), &micros(now)]).await?;
    }
    Ok(())
}

/// Replaces a memory's vectors in the spaces of `vectors`.
pub(super) async fn embed(
    transaction: &Transaction,
    owner: &Owner,
    id: &MemoryId,
    version: u32,
    vectors: &[Embedding],
) -> Result<(), Fault> {
    if !lock(transaction, owner).await? {
        return Ok(());
    }
    let found = by_id(transaction, owner, id.as_str()).await?;
    let Some((number, _)) = found.filter(|(_, stored)| stored.version == version) else {
        return Ok(());
    };
    let remove = "DELETE FROM vectors WHERE owner = $1 AND memory = $2 \
         AND space IN (SELECT space FROM spaces WHERE name = ANY($3))";
    let names: Vec<String> = vectors.iter().map(|vector| stored(&vector.space)).collect();
    transaction.execute(remove, &[&owner.key(), &number, &names]).await?;
    put_vectors(transaction, owner, number, vectors).await
}

/// Removes the earlier versions of a memory.
pub(super) async fn forget_history(
    transaction: &Transaction,
    owner: &Owner,
    id: &MemoryId,
) -> Result<u64, Fault> {
    let remove = "DELETE FROM versions WHERE owner = $1 \
         AND memory = (SELECT number FROM memories WHERE owner = $1 AND id = $2)";
    if !lock(transaction, owner).await? {
        return Ok(0);
    }
    transaction.execute(remove, &[&owner.key(), &stored(id.as_str())]).await
}

/// Removes memories with their histories and vectors, and the last trace of an owner who has none
/// left.
macro_rules! forget {
    ($which:literal) => {
        concat!(
            "WITH gone AS (DELETE FROM memories WHERE owner = $1 AND ",
            $which,
            " RETURNING number), \
             their_versions AS (DELETE FROM versions \
                 WHERE owner = $1 AND memory IN (SELECT number FROM gone)), \
             their_vectors AS (DELETE FROM vectors \
                 WHERE owner = $1 AND memory IN (SELECT number FROM gone)) \
             SELECT count(*) FROM gone"
        )
    };
}

/// Removes memories by id.
pub(super) async fn forget(
    transaction: &Transaction,
    owner: &Owner,
    ids: &[MemoryId],
) -> Result<u64, Fault> {
    if !lock(transaction, owner).await? {
        return Ok(0);
    }
    let ids: Vec<String> = ids.iter().map(|id| stored(id.as_str())).collect();
    let gone = transaction.first(forget!("id = ANY($2)"), &[&owner.key(), &ids]).await?;
    forgotten(transaction, owner, gone).await
}

/// Removes everything in a scope.
pub(super) async fn forget_by_scope(
    transaction: &Transaction,
    scope: &ForgetScope,
) -> Result<u64, Fault> {
    let owner = &scope.owner;
    if !lock(transaction, owner).await? {
        return Ok(0);
    }
    let gone = match &scope.project_id {
        None => transaction.first(forget!("true"), &[&owner.key()]).await?,
        Some(project) => {
            let project = stored(project);
            transaction.first(forget!("project = $2"), &[&owner.key(), &project]).await?
        }
    };
    forgotten(transaction, owner, gone).await
}

/// The number of removed memories; removes the owner with their last one.
async fn forgotten(
    transaction: &Transaction,
    owner: &Owner,
    gone: Option<tokio_postgres::Row>,
) -> Result<u64, Fault> {
    let remove = "DELETE FROM owners WHERE owner = $1 \
         AND NOT EXISTS (SELECT FROM memories WHERE memories.owner = $1)";
    transaction.execute(remove, &[&owner.key()]).await?;
    let gone = gone.map(|row| get::<i64>(&row, 0, "count")).transpose()?;
    Ok(gone.unwrap_or_default().unsigned_abs())
}

/// Increments access counts of memories that still exist. It locks no owner, since no search shows
/// what it changes; rows are locked in one order, so that two of these never wait for each other.
pub(super) async fn touch(transaction: &Transaction, touches: &[Touch]) -> Result<(), Fault> {
    let count = "WITH touched AS ( \
             SELECT number, given.times, given.last FROM memories \
             JOIN unnest($2::text[], $3::bigint[], $4::bigint[]) AS given (id, times, last) \
                 ON memories.id = given.id \
             WHERE owner = $1 ORDER BY memories.id FOR NO KEY UPDATE OF memories) \
         UPDATE memories SET access_count = least(access_count, $5 - touched.times) + touched.times, \
             last_accessed_at = greatest(last_accessed_at, touched.last) \
         FROM touched WHERE owner = $1 AND memories.number = touched.number";
    let most = i64::try_from(MAX_ACCESS_COUNT).unwrap_or(i64::MAX);
    let mut owners: BTreeMap<String, BTreeMap<String, (i64, Timestamp)>> = BTreeMap::new();
    for touch in touches {
        let of = owners.entry(touch.owner.key()).or_default();
        let at = to_microsecond(touch.at);
        let (times, last) = of.entry(stored(touch.id.as_str())).or_insert((0, at));
        *times += 1;
        *last = at.max(*last);
    }
    for (owner, touched) in owners {
        transaction.act_for(&owner)?;
        let ids: Vec<&String> = touched.keys().collect();
        let times: Vec<i64> = touched.values().map(|(times, _)| *times).collect();
        let last: Vec<i64> = touched.values().map(|(_, last)| micros(*last)).collect();
        transaction.execute(count, &[&owner, &ids, &times, &last, &most]).await?;
    }
    Ok(())
}

/// Removes everything of everybody, and the files that held it.
pub(super) async fn clear(transaction: &Transaction) -> Result<(), Fault> {
    transaction.batch("TRUNCATE memories, versions, vectors, owners, shared").await
}

/// Writes vectors of a memory that has none of these.
async fn put_vectors(
    transaction: &Transaction,
    owner: &Owner,
    number: i64,
    vectors: &[Embedding],
) -> Result<(), Fault> {
    // A new space is rare. An attempt that conflicts would use up a number, so it looks first.
    let space = "INSERT INTO spaces (name) SELECT $1::text \
         WHERE NOT EXISTS (SELECT FROM spaces WHERE name = $1) ON CONFLICT (name) DO NOTHING";
    let spaces: HashSet<String> = vectors.iter().map(|vector| stored(&vector.space)).collect();
    for name in spaces {
        transaction.execute(space, &[&name]).await?;
    }
    let owner = owner.key();
    // Sent together.
    let puts = vectors.iter().map(|vector| put_vector(transaction, &owner, number, vector));
    try_join_all(puts).await.map(drop)
}

async fn put_vector(
    transaction: &Transaction,
    owner: &str,
    number: i64,
    vector: &Embedding,
) -> Result<(), Fault> {
    let insert = "INSERT INTO vectors (owner, memory, space, part, coordinates) \
         VALUES ($1, $2, (SELECT space FROM spaces WHERE name = $3), $4, $5::real[]::vector)";
    // A part is below 1,024.
    let (space, part) = (stored(&vector.space), i16::try_from(vector.part).unwrap_or(i16::MAX));
    let values = &vector.values[..];
    transaction.execute(insert, &[&owner, &number, &space, &part, &values]).await.map(drop)
}

/// Refuses vectors that pgvector cannot store.
pub(super) fn storable(vectors: &[Embedding]) -> Result<(), StoreError> {
    if vectors.iter().any(|vector| vector.values.len() > MAX_DIMENSION) {
        let cause = format!("must have at most {MAX_DIMENSION} dimensions");
        return Err(StoreError::Invalid { field: "vectors", cause });
    }
    Ok(())
}

//! Reads and writes complete memories, for export and import.

use std::collections::HashMap;

use tokio_postgres::Row;

use crate::{
    MAX_SCAN_BYTES, UnreadableRows,
    postgres::{
        change::{insert, insert_version},
        connection::{fault::Fault, transaction::Transaction},
        rows::{
            COLUMNS, anyones_memory, columns, get, memory, readable, readable_row, stored,
            text::decode,
        },
        search::by_id,
    },
    scan_cursor::ScanCursor,
};
use memgate_core::memory::{Embedding, Owner, Restored, Scan, Whole, Write};

/// Number of memories read in one step of a scan.
const STEP: usize = 64;

/// The next memories with the sizes of their texts, so that a step can end where they are large.
macro_rules! next {
    ($which:literal) => {
        concat!(
            "SELECT number, octet_length(content) + coalesce(octet_length(raw), 0) + (SELECT \
                 coalesce(sum(octet_length(content) + coalesce(octet_length(raw), 0)), 0) \
                 FROM versions WHERE versions.owner = memories.owner AND memory = number), \
             owner, id FROM memories WHERE ",
            $which,
            " ORDER BY owner, id LIMIT $3"
        )
    };
}

/// A piece of an owner's memories, or of all owners', after a cursor.
pub(super) async fn scan(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    owner: Option<&Owner>,
    after: ScanCursor,
    limit: usize,
) -> Result<Scan, Fault> {
    let mut scan = Scan { found: Vec::new(), next: None };
    let (mut after, mut bytes) = (after, 0);
    loop {
        let step = STEP.min(limit - scan.found.len());
        let Step { mut places, more } = next(transaction, owner, &after, step + 1, bytes).await?;
        // The last one only shows that there are more.
        let full = places.len() > step;
        places.truncate(step);
        let numbers: Vec<i64> = places.iter().map(|(number, _)| *number).collect();
        for whole in wholes(transaction, unreadable, owner, &numbers).await? {
            bytes += whole.bytes();
            scan.found.push(whole);
        }
        // Also past those that cannot be read.
        after = places.pop().map_or(after, |(_, place)| place);
        if !full && !more {
            return Ok(scan);
        }
        if scan.found.len() >= limit || bytes >= MAX_SCAN_BYTES {
            scan.next = Some(after.to_string());
            return Ok(scan);
        }
    }
}

/// The numbers of the next memories, each with its place in the order of the scan.
struct Step {
    places: Vec<(i64, ScanCursor)>,
    /// Whether there are more than these: the texts before were large.
    more: bool,
}

/// At most `limit` memories after a cursor; fewer if their texts, with the `bytes` before them,
/// reach the bound.
async fn next(
    transaction: &Transaction,
    owner: Option<&Owner>,
    after: &ScanCursor,
    limit: usize,
    mut bytes: usize,
) -> Result<Step, Fault> {
    let sql = match owner {
        Some(_) => next!("owner = $1 AND id > $2"),
        None => next!("(owner, id) > ($1, $2)"),
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = transaction.query(sql, &[&after.owner, &stored(&after.id), &limit]).await?;
    let mut step = Step { places: Vec::new(), more: false };
    for row in rows {
        if bytes >= MAX_SCAN_BYTES && !step.places.is_empty() {
            step.more = true;
            break;
        }
        bytes += usize::try_from(get::<i64>(&row, 1, "size")?).unwrap_or(usize::MAX);
        let place = ScanCursor {
            owner: get::<&str>(&row, 2, "owner")?.to_owned(),
            id: decode(get(&row, 3, "id")?).ok_or(Fault::Unreadable("id"))?,
        };
        step.places.push((get(&row, 0, "number")?, place));
    }
    Ok(step)
}

const MEMORIES: &str = concat!(
    "SELECT ",
    columns!(),
    ", number FROM memories WHERE number = ANY($1) ORDER BY owner, id"
);
const VERSIONS: &str = concat!(
    "SELECT ",
    columns!(),
    ", memory FROM versions WHERE (owner, memory) IN (SELECT owner, number FROM memories \
         WHERE number = ANY($1)) ORDER BY memory, version"
);
const VECTORS: &str = "SELECT memory, name, part, coordinates::real[] FROM vectors \
     JOIN spaces USING (space) WHERE (owner, memory) IN (SELECT owner, number FROM memories \
         WHERE number = ANY($1)) ORDER BY memory, name, part";

/// Complete memories by their numbers, by owner and id.
async fn wholes(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    owner: Option<&Owner>,
    numbers: &[i64],
) -> Result<Vec<Whole>, Fault> {
    let mut found = Vec::new();
    let mut places = HashMap::new();
    for row in transaction.query(MEMORIES, &[&numbers]).await? {
        let memory = readable_row(unreadable, &row, |row| match owner {
            Some(owner) => memory(row, owner),
            None => anyones_memory(row),
        })?;
        let Some(memory) = memory else { continue };
        places.insert(get::<i64>(&row, COLUMNS, "number")?, found.len());
        found.push(Whole { memory, history: Vec::new(), vectors: Vec::new() });
    }
    for row in transaction.query(VERSIONS, &[&numbers]).await? {
        let place = places.get(&get::<i64>(&row, COLUMNS, "number")?);
        if let Some(whole) = place.and_then(|place| found.get_mut(*place)) {
            let version = |row: &_| memory(row, &whole.memory.owner);
            whole.history.extend(readable_row(unreadable, &row, version)?);
        }
    }
    for row in transaction.query(VECTORS, &[&numbers]).await? {
        let place = places.get(&get::<i64>(&row, 0, "number")?);
        if let Some(whole) = place.and_then(|place| found.get_mut(*place)) {
            let vector = readable(unreadable, whole.memory.id.as_str(), embedding(&row))?;
            whole.vectors.extend(vector);
        }
    }
    Ok(found)
}

fn embedding(row: &Row) -> Result<Embedding, Fault> {
    let space = decode(get(row, 1, "space")?).ok_or(Fault::Unreadable("space"))?;
    let part = get::<i16>(row, 2, "part")?;
    let values: Vec<f32> = get(row, 3, "vector")?;
    Ok(Embedding {
        space: space.into(),
        part: u16::try_from(part).map_err(|_| Fault::Unreadable("part"))?,
        values: values.into(),
    })
}

/// Inserts a memory unchanged, unless its owner already has one with this id. Returns its number if
/// it was written.
pub(super) async fn restore(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    given: &Whole,
    write: &Write,
) -> Result<(Restored, Option<i64>), Fault> {
    let Whole { memory, history, vectors } = given;
    let Some(number) = insert(transaction, memory, vectors, write).await? else {
        let there = by_id(transaction, &memory.owner, memory.id.as_str()).await;
        let there = readable(unreadable, memory.id.as_str(), there)?.flatten();
        let numbers: Vec<i64> = there.iter().map(|(number, _)| *number).collect();
        let kept = wholes(transaction, unreadable, Some(&memory.owner), &numbers).await?;
        let same = kept.first().is_some_and(|kept| given.is_kept_by(kept));
        return Ok((if same { Restored::Same } else { Restored::Differs }, None));
    };
    for version in history {
        insert_version(transaction, number, version, write).await?;
    }
    Ok((Restored::Written, Some(number)))
}

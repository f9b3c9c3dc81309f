//! Reads and writes complete memories, for export and import.

use std::collections::HashMap;

use crate::{
    MAX_SCAN_BYTES,
    postgres::{
        change::{insert, insert_version},
        connection::{fault::Fault, transaction::Transaction},
        rows::{COLUMNS, anyones_memory, columns, get, memory, stored, text::decode},
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
                 FROM versions WHERE versions.owner = memories.owner AND memory = number) \
             FROM memories WHERE ",
            $which,
            " ORDER BY owner, id LIMIT $3"
        )
    };
}

/// A piece of an owner's memories, or of all owners', after a cursor.
pub(super) async fn scan(
    transaction: &Transaction,
    owner: Option<&Owner>,
    after: ScanCursor,
    limit: usize,
) -> Result<Scan, Fault> {
    let mut scan = Scan { found: Vec::new(), next: None };
    let (mut after, mut bytes) = (after, 0);
    loop {
        let step = STEP.min(limit - scan.found.len());
        let numbers = next(transaction, owner, &after, step + 1, bytes).await?;
        // The last one only shows that there are more.
        let Step { mut numbers, more } = numbers;
        let full = numbers.len() > step;
        numbers.truncate(step);
        for whole in wholes(transaction, owner, &numbers).await? {
            bytes += whole.bytes();
            after = ScanCursor::of(&whole.memory);
            scan.found.push(whole);
        }
        if !full && !more {
            return Ok(scan);
        }
        if scan.found.len() >= limit || bytes >= MAX_SCAN_BYTES {
            scan.next = Some(after.to_string());
            return Ok(scan);
        }
    }
}

/// The numbers of the next memories.
struct Step {
    numbers: Vec<i64>,
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
    let mut step = Step { numbers: Vec::new(), more: false };
    for row in rows {
        if bytes >= MAX_SCAN_BYTES && !step.numbers.is_empty() {
            step.more = true;
            break;
        }
        bytes += usize::try_from(get::<i64>(&row, 1, "size")?).unwrap_or(usize::MAX);
        step.numbers.push(get(&row, 0, "number")?);
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
    owner: Option<&Owner>,
    numbers: &[i64],
) -> Result<Vec<Whole>, Fault> {
    let mut found = Vec::new();
    let mut places = HashMap::new();
    for row in transaction.query(MEMORIES, &[&numbers]).await? {
        let memory = match owner {
            Some(owner) => memory(&row, owner)?,
            None => anyones_memory(&row)?,
        };
        places.insert(get::<i64>(&row, COLUMNS, "number")?, found.len());
        found.push(Whole { memory, history: Vec::new(), vectors: Vec::new() });
    }
    for row in transaction.query(VERSIONS, &[&numbers]).await? {
        let place = places.get(&get::<i64>(&row, COLUMNS, "number")?);
        if let Some(whole) = place.and_then(|place| found.get_mut(*place)) {
            whole.history.push(memory(&row, &whole.memory.owner)?);
        }
    }
    for row in transaction.query(VECTORS, &[&numbers]).await? {
        let place = places.get(&get::<i64>(&row, 0, "number")?);
        if let Some(whole) = place.and_then(|place| found.get_mut(*place)) {
            let space = decode(get(&row, 1, "space")?).ok_or(Fault::Unreadable("space"))?;
            let part = get::<i16>(&row, 2, "part")?;
            let values: Vec<f32> = get(&row, 3, "vector")?;
            whole.vectors.push(Embedding {
                space: space.into(),
                part: u16::try_from(part).map_err(|_| Fault::Unreadable("part"))?,
                values: values.into(),
            });
        }
    }
    Ok(found)
}

/// Inserts a memory unchanged, unless its owner already has one with this id. Returns its number if
/// it was written.
pub(super) async fn restore(
    transaction: &Transaction,
    given: &Whole,
    write: &Write,
) -> Result<(Restored, Option<i64>), Fault> {
    let Whole { memory, history, vectors } = given;
    let Some(number) = insert(transaction, memory, vectors, write).await? else {
        let there = by_id(transaction, &memory.owner, memory.id.as_str()).await?;
        let numbers: Vec<i64> = there.iter().map(|(number, _)| *number).collect();
        let kept = wholes(transaction, Some(&memory.owner), &numbers).await?;
        let same = kept.first().is_some_and(|kept| given.is_kept_by(kept));
        return Ok((if same { Restored::Same } else { Restored::Differs }, None));
    };
    for version in history {
        insert_version(transaction, number, version, write).await?;
    }
    Ok((Restored::Written, Some(number)))
}

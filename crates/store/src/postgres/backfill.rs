//! Finds memories without a vector incrementally.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    UnreadableRows,
    postgres::{
        connection::{fault::Fault, transaction::Transaction},
        filter::in_use,
        rows::{COLUMNS, anyones_memory, columns, get, readable_row, stored},
    },
};
use memgate_core::memory::Memory;

/// Number of memories examined per step; bounds how long a statement takes.
const STEP: i64 = 5_000;

/// Time after which the memories before a mark are examined again. Another memgate may have changed
/// them, or may have stored one of a lower number later: numbers are given before a transaction
/// commits.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// Maximum number of spaces with a mark; beyond it all are examined from the start.
const MAX_MARKS: usize = 64;

/// The memory of each space up to which every memory has its vector, by number. A mark moves back
/// when this process changes an earlier memory.
#[derive(Default)]
pub(super) struct Marks {
    marks: Mutex<HashMap<String, Mark>>,
    /// One search runs at a time, so that the lowest change during a search is known.
    running: tokio::sync::Mutex<()>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    number: i64,
    /// The lowest number that was changed since the running search began.
    changed: i64,
    /// When the first memories were examined.
    since: Instant,
}

/// The result of one step.
struct Step {
    found: Vec<Memory>,
    /// Everything up to this number was examined.
    to: i64,
    /// The number of the first memory found.
    first: Option<i64>,
    /// Whether there may be more.
    more: bool,
}

impl Marks {
    /// Records that the memory of this number may have become one to embed.
    pub(super) fn changed(&self, number: i64) {
        for mark in self.lock().values_mut() {
            mark.number = mark.number.min(number - 1);
            mark.changed = mark.changed.min(number - 1);
        }
    }

    /// Forgets all marks: the tables are others.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// Memories of any owner without a vector in a space, in the order they were stored. `begin`
    /// begins a transaction for everybody.
    pub(super) async fn unembedded<B>(
        &self,
        begin: impl Fn() -> B,
        unreadable: &UnreadableRows,
        space: &str,
        limit: usize,
    ) -> Result<Vec<Memory>, Fault>
    where
        B: Future<Output = Result<Transaction, Fault>>,
    {
        let _running = self.running.lock().await;
        let mut found = Vec::new();
        let mut from = self.begin(space);
        let mut unbroken = true;
        while found.len() < limit {
            let transaction = begin().await?;
            let step = step(&transaction, unreadable, space, from, limit - found.len()).await?;
            transaction.end();
            if unbroken {
                self.examined(space, step.first.map_or(step.to, |first| first - 1));
                unbroken = step.first.is_none();
            }
            from = step.to;
            found.extend(step.found);
            if !step.more {
                break;
            }
        }
        Ok(found)
    }

    /// Where a search begins.
    fn begin(&self, space: &str) -> i64 {
        let mut marks = self.lock();
        if marks.len() >= MAX_MARKS && !marks.contains_key(space) {
            marks.clear();
        }
        let now = Instant::now();
        let fresh = Mark { number: 0, changed: i64::MAX, since: now };
        let mark = marks.entry(space.to_owned()).or_insert(fresh);
        if now.duration_since(mark.since) >= GOOD_FOR {
            *mark = fresh;
        }
        mark.changed = i64::MAX;
        mark.number
    }

    fn examined(&self, space: &str, to: i64) {
        if let Some(mark) = self.lock().get_mut(space) {
            mark.number = to.min(mark.changed);
        }
    }

    /// Every change is a complete step, so a poisoned lock still protects a consistent state.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Mark>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `IS NULL` of one value, and not `NOT EXISTS`: PostgreSQL would join that with all vectors there
/// are, whatever the range of numbers.
const MISSING: &str = concat!(
    "SELECT ",
    columns!(),
    ", number FROM memories WHERE number > $1 AND number <= $2 AND ",
    in_use!(),
    " AND (SELECT part FROM vectors WHERE vectors.owner = memories.owner \
         AND vectors.memory = memories.number AND vectors.part = 0 \
         AND vectors.space = (SELECT space FROM spaces WHERE name = $3)) IS NULL \
     ORDER BY number LIMIT $4"
);

async fn step(
    transaction: &Transaction,
    unreadable: &UnreadableRows,
    space: &str,
    from: i64,
    limit: usize,
) -> Result<Step, Fault> {
    let last = "SELECT coalesce(max(number), 0) FROM memories";
    let last = transaction.first(last, &[]).await?;
    let last: i64 = last.map(|row| get(&row, 0, "number")).transpose()?.unwrap_or_default();
    let to = last.min(from.saturating_add(STEP));
    let (mut found, mut first, mut after) = (Vec::new(), None, from);
    // Rows that cannot be read do not count: they would take the places of all others.
    loop {
        let left = limit - found.len();
        let most = i64::try_from(left).unwrap_or(i64::MAX);
        let rows = transaction.query(MISSING, &[&after, &to, &stored(space), &most]).await?;
        for row in &rows {
            after = get(row, COLUMNS, "number")?;
            if let Some(memory) = readable_row(unreadable, row, anyones_memory)? {
                first.get_or_insert(after);
                found.push(memory);
            }
        }
        if found.len() >= limit || rows.len() < left {
            return Ok(Step { found, to, first, more: to < last });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_moves_back_to_a_changed_memory() {
        let marks = Marks::default();
        assert_eq!(marks.begin("s"), 0);
        marks.examined("s", 10);
        assert_eq!(marks.begin("s"), 10);
        marks.changed(4);
        assert_eq!(marks.begin("s"), 3);
    }

    #[test]
    fn a_memory_changed_during_a_search_is_examined_again() {
        let marks = Marks::default();
        assert_eq!(marks.begin("s"), 0);
        marks.changed(4);
        marks.examined("s", 10);
        assert_eq!(marks.begin("s"), 3);
    }

    #[test]
    fn the_number_of_marks_is_bounded() {
        let marks = Marks::default();
        for space in 0..MAX_MARKS * 3 {
            marks.begin(&space.to_string());
        }
        assert!(marks.lock().len() <= MAX_MARKS);
    }
}

//! Finds memories without a vector incrementally.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use crate::{
    UnreadableRows,
    sqlite::{
        filter::IN_USE,
        index::space_number,
        rows::{COLUMNS, anyones_memory, readable_row},
    },
};
use memgate_core::memory::Memory;

/// Number of rows examined per step; bounds how long one read occupies its thread.
const STEP: i64 = 5_000;

/// The row of each space up to which every memory has its vector. Rows are only appended; changes
/// that can remove a vector of an earlier row increment the counter `backfill`, which invalidates
/// the mark.
#[derive(Default)]
pub(super) struct Marks(Mutex<HashMap<String, Mark>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    row: i64,
    counter: i64,
}

/// The result of one step.
pub(super) struct Step {
    /// Memories to embed, in the order they were stored.
    pub(super) found: Vec<Memory>,
    /// Whether there may be more.
    pub(super) more: bool,
}

impl Marks {
    /// Continues after the last mark, or after `after` within the same pass.
    pub(super) fn step(
        &self,
        connection: &Connection,
        unreadable: &UnreadableRows,
        name: &str,
        after: &mut Option<i64>,
        limit: usize,
    ) -> rusqlite::Result<Step> {
        let counter = "SELECT value FROM counters WHERE name = 'backfill'";
        let counter: i64 = connection.prepare_cached(counter)?.query_row([], |row| row.get(0))?;
        let last: i64 = connection
            .prepare_cached("SELECT ifnull(max(row), 0) FROM memories")?
            .query_row([], |row| row.get(0))?;
        let mark = self.get(name).filter(|mark| mark.counter == counter);
        let marked = mark.map_or(0, |mark| mark.row);
        let from = after.unwrap_or(marked);
        let to = last.min(from.saturating_add(STEP));
        let space = space_number(connection, name)?;
        let sql = format!(
            "SELECT {COLUMNS}, row FROM memories WHERE row > ?1 AND row <= ?2 AND {IN_USE} \
             AND NOT EXISTS (SELECT 1 FROM vectors \
                 WHERE memory = memories.row AND space = ?3 AND part = 0) \
             ORDER BY row"
        );
        let mut found = Vec::new();
        let mut first = None;
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query((from, to, space))?;
        // Rows that cannot be read do not count: they would take the places of all others.
        while found.len() < limit
            && let Some(row) = rows.next()?
        {
            if let Some(memory) = readable_row(unreadable, row, anyones_memory)? {
                first.get_or_insert(row.get::<_, i64>("row")?);
                found.push(memory);
            }
        }
        // Only a continuous run moves the mark.
        if from == marked {
            let row = first.map_or(to, |first| first - 1);
            self.set(name, Mark { row, counter });
        }
        *after = Some(to);
        Ok(Step { found, more: to < last })
    }

    fn get(&self, name: &str) -> Option<Mark> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    fn set(&self, name: &str, mark: Mark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), mark);
    }
}

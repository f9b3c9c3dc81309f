//! Sessions as the API shows them.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use crate::journal::columns::{millis, owner, time};
use memgate_core::memory::Owner;

/// A session as the API shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its place in the order that they are listed in.
    pub number: i64,
    /// Its id.
    pub id: String,
    /// Complete turns so far, those that are gone from the journal included.
    pub turns: u32,
    /// When its first turn began.
    pub started_at: Timestamp,
    /// When its last turn ended.
    pub active_at: Timestamp,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Timestamp>,
}

/// An owner's sessions, the one that began last first; only those before a place.
pub(crate) fn list_sessions(
    c: &Connection,
    owner: &Owner,
    before: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<SessionRow>> {
    c.prepare_cached(
        "SELECT id, name, turns, started_at, active_at, ended_at FROM sessions
         WHERE tenant = ?1 AND user = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4",
    )?
    .query_map(
        params![
            owner.tenant(),
            owner.name(),
            before.unwrap_or(i64::MAX),
            i64::try_from(limit).unwrap_or(i64::MAX)
        ],
        |row| {
            Ok(SessionRow {
                number: row.get(0)?,
                id: row.get(1)?,
                turns: row.get(2)?,
                started_at: time(row.get(3)?)?,
                active_at: time(row.get(4)?)?,
                ended_at: row.get::<_, Option<i64>>(5)?.map(time).transpose()?,
            })
        },
    )?
    .collect()
}

/// Whether an owner had no turn in any session after `active`.
pub(crate) fn is_quiet_since(
    c: &Connection,
    of: &Owner,
    active: Timestamp,
) -> rusqlite::Result<bool> {
    c.prepare_cached("SELECT max(active_at) <= ?3 FROM sessions WHERE tenant = ?1 AND user = ?2")?
        .query_row(params![of.tenant(), of.name(), millis(active)], |row| {
            row.get::<_, Option<bool>>(0)
        })
        .map(|is_quiet| is_quiet.unwrap_or(true))
}

/// The condition is that of the index, word for word: else it is not used.
const ENDED_WITHOUT_USER: &str = "SELECT tenant, user, active FROM (
         SELECT tenant, user, max(active_at) AS active,
             row_number() OVER (ORDER BY max(active_at) DESC) AS place
         FROM sessions WHERE user >= char(1) || 'session:' AND user < char(1) || 'session;'
         GROUP BY tenant, user)
     WHERE active <= ?1 OR place > ?2 ORDER BY active LIMIT ?3";

/// The owners of the sessions without a user that were last active at `before` or earlier, and of those beyond the `most`
/// that were active last. Each with its last activity, the longest quiet first.
pub(crate) fn ended_without_user(
    c: &Connection,
    before: Timestamp,
    most: u32,
    limit: u32,
) -> rusqlite::Result<Vec<(Owner, Timestamp)>> {
    c.prepare_cached(ENDED_WITHOUT_USER)?
        .query_map(params![millis(before), most, limit], |row| {
            let [tenant, user]: [String; 2] = [row.get(0)?, row.get(1)?];
            Ok((owner(&tenant, &user)?, time(row.get(2)?)?))
        })?
        .collect()
}

/// The owner of a turn, its begin and the end of its last exchange.
pub(crate) fn end_of_turn(
    c: &Connection,
    turn: i64,
) -> rusqlite::Result<Option<(Owner, [Timestamp; 2])>> {
    c.prepare_cached("SELECT tenant, user, began_at, ended_at FROM turns WHERE id = ?1")?
        .query_row([turn], |row| {
            let [tenant, user]: [String; 2] = [row.get(0)?, row.get(1)?];
            Ok((owner(&tenant, &user)?, [time(row.get(2)?)?, time(row.get(3)?)?]))
        })
        .optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::schema::MIGRATIONS;

    #[test]
    fn sessions_without_a_user_are_found_without_a_look_at_all_others() {
        let c = Connection::open_in_memory().unwrap();
        c.execute_batch(MIGRATIONS[0].sql).unwrap();
        let session = Owner::session("t", "s").unwrap();
        for of in [&session, &Owner::new("t", "alice").unwrap()] {
            let sql =
                "INSERT INTO sessions (tenant, user, name, base, generation, started_at, active_at)
                 VALUES (?1, ?2, 's', 's', 0, 5, 5)";
            c.execute(sql, params![of.tenant(), of.name()]).unwrap();
        }
        let at = Timestamp::from_millisecond(5).unwrap();
        assert_eq!(ended_without_user(&c, at, 9, 9).unwrap(), [(session, at)]);
        let mut plan = c.prepare(&format!("EXPLAIN QUERY PLAN {ENDED_WITHOUT_USER}")).unwrap();
        let steps = plan.query_map(params![5, 9, 9], |row| row.get(3)).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        let index = "USING COVERING INDEX sessions_without_user";
        assert!(steps.iter().any(|step| step.contains(index)), "{steps:?}");
    }
}

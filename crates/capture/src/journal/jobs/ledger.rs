//! Jobs as the API shows them: listed, and asked for again. They show kinds, counts,
//! times, and errors without content, but not the subject of a job.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params, params};

use crate::journal::{
    columns::{millis, owner, time},
    jobs::queue::JobId,
};
use memgate_core::memory::Owner;

/// Where a job stands; one that runs is still pending.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "lowercase")]
pub enum JobStanding {
    /// Owed: it runs, waits for its time, or for others.
    Pending,
    /// Given up after its last try.
    Dead,
}

impl JobStanding {
    /// Both.
    pub const ALL: &[Self] = <Self as strum::VariantArray>::VARIANTS;

    /// The name in tables, answers and arguments.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A job as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// Its number.
    pub id: JobId,
    /// Its kind.
    pub kind: String,
    /// Where it stands.
    pub state: JobStanding,
    /// Whom it is for; `None` when it is for nobody in particular.
    pub owner: Option<Owner>,
    /// Runs that failed.
    pub tries: u32,
    /// When it was first asked for.
    pub created_at: Timestamp,
    /// When it runs; of a dead one, when it last ran.
    pub due_at: Timestamp,
    /// Why its last run failed; never content.
    pub last_error: Option<String>,
}

/// Which jobs are meant.
#[derive(Clone, Debug, Default)]
pub struct JobQuery {
    /// Only this owner's; `None` is for operators: everybody's.
    pub owner: Option<Owner>,
    /// Only those that stand so.
    pub state: Option<JobStanding>,
    /// Only those older than this one.
    pub before: Option<JobId>,
    /// At most this many.
    pub limit: usize,
}

const JOB: &str =
    "SELECT id, kind, state, tenant, user, tries, created_at, due_at, last_error FROM jobs";

/// Jobs, the newest first.
pub(crate) fn list_jobs(c: &Connection, query: &JobQuery) -> rusqlite::Result<Vec<JobRow>> {
    // Two texts, since one for both could not use the index.
    let whose = query.owner.as_ref().map_or("", |_| "tenant = :tenant AND user = :user AND");
    let sql = format!(
        "{JOB} WHERE {whose} (:state IS NULL OR state = :state) AND id < :before
         ORDER BY id DESC LIMIT :limit"
    );
    let (tenant, user) =
        (query.owner.as_ref().map(Owner::tenant), query.owner.as_ref().map(Owner::name));
    let state = query.state.map(JobStanding::name);
    let before = query.before.unwrap_or(JobId::MAX);
    let limit = i64::try_from(query.limit).unwrap_or(i64::MAX);
    let mut values: Vec<(&str, &dyn ToSql)> =
        vec![(":state", &state), (":before", &before), (":limit", &limit)];
    if query.owner.is_some() {
        values.extend([(":tenant", &tenant as &dyn ToSql), (":user", &user)]);
    }
    c.prepare_cached(&sql)?.query_map(values.as_slice(), job)?.collect()
}

/// Makes a job due now, with all its tries before it; `None` when the owner has
/// none of that number.
pub(crate) fn retry(
    c: &Connection,
    owner: &Owner,
    id: JobId,
    now: Timestamp,
) -> rusqlite::Result<Option<JobRow>> {
    c.prepare_cached(
        "UPDATE jobs SET state = 'pending', due_at = min(due_at, ?4), tries = 0
         WHERE id = ?3 AND tenant = ?1 AND user = ?2",
    )?
    .execute(params![owner.tenant(), owner.name(), id, millis(now)])?;
    c.prepare_cached(&format!("{JOB} WHERE id = ?3 AND tenant = ?1 AND user = ?2"))?
        .query_row(params![owner.tenant(), owner.name(), id], job)
        .optional()
}

/// Retries all dead jobs, of an owner or (for operators) of everybody.
/// Returns how many.
pub(crate) fn retry_dead(
    c: &Connection,
    owner: Option<&Owner>,
    now: Timestamp,
) -> rusqlite::Result<u64> {
    let revive = "UPDATE jobs SET state = 'pending', due_at = min(due_at, :now), tries = 0
                  WHERE state = 'dead'";
    let revived = match owner {
        None => c.prepare_cached(revive)?.execute(named_params! {":now": millis(now)}),
        Some(owner) => c
            .prepare_cached(&format!("{revive} AND tenant = :tenant AND user = :user"))?
            .execute(named_params! {
                ":now": millis(now), ":tenant": owner.tenant(), ":user": owner.name(),
            }),
    };
    revived.map(|revived| revived as u64)
}

fn job(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    let (tenant, user): (Option<String>, Option<String>) = (row.get(3)?, row.get(4)?);
    let state: String = row.get(2)?;
    Ok(JobRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        state: if state == "dead" { JobStanding::Dead } else { JobStanding::Pending },
        owner: tenant.zip(user).map(|(tenant, user)| owner(&tenant, &user)).transpose()?,
        tries: row.get(5)?,
        created_at: time(row.get(6)?)?,
        due_at: time(row.get(7)?)?,
        last_error: row.get(8)?,
    })
}

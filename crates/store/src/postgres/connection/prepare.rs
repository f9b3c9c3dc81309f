//! Requirements of the database: checked and created at the first connection.

use std::time::Duration;

use tokio::time::timeout;
use tokio_postgres::{Error, error::SqlState, types::Type};

use crate::postgres::{
    connection::{
        fault::{Fault, PostgresRefusal},
        pool::{Pool, SESSION},
        settings::PostgresSettings,
    },
    schema::MIGRATIONS,
};

/// Timeout for everything here, which includes waiting for another memgate that does the same.
const WITHIN: Duration = Duration::from_secs(25);

/// The time limit of one statement, in PostgreSQL's form; shorter, so that the server ends it
/// first.
const STATEMENT_WITHIN: &str = "20s";

/// Only memgates take this advisory lock; the second half of its key is the schema.
const LOCK: i32 = 0x6d65_6d67;

const STATE: &str = "SELECT current_setting('server_encoding'), rolsuper OR rolbypassrls, \
     EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'), \
     EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), \
     EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = $1 AND relname = 'migrations'), \
     EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = $1 AND relname = 'shared') \
     FROM pg_roles WHERE rolname = current_user";

/// The state of the database.
struct State {
    encoding: String,
    /// Whether row-level security does not bind the role.
    unbound: bool,
    extension: bool,
    schema: bool,
    /// The version of the tables; 0 if there are none.
    version: usize,
    /// Whether the table is there that this version had from its release on.
    shared: bool,
}

/// Creates what is missing. A database that has everything is only read.
pub(crate) async fn prepare(
    pool: &Pool,
    settings: &PostgresSettings,
) -> Result<Option<PostgresRefusal>, Fault> {
    timeout(WITHIN, look_and_create(pool, settings)).await.map_err(|_| Fault::Late)?
}

async fn look_and_create(
    pool: &Pool,
    settings: &PostgresSettings,
) -> Result<Option<PostgresRefusal>, Fault> {
    let mut connection = pool.get().await?;
    let transaction = connection.transaction().await?;
    let found = state(&transaction, &settings.schema).await?;
    transaction.rollback().await?;
    if found.encoding != "UTF8" {
        return Ok(Some(PostgresRefusal::Encoding(found.encoding)));
    }
    if found.version > MIGRATIONS.len() {
        return Ok(Some(newer(found.version)));
    }
    if found.version > 0 && !found.shared {
        return Ok(Some(PostgresRefusal::Earlier));
    }
    if found.unbound {
        tracing::warn!(
            "PostgreSQL's row-level security does not apply to memgate's role, which is a \
             superuser or may bypass it; use another role"
        );
    }
    if found.extension && found.version == MIGRATIONS.len() {
        return Ok(None);
    }
    let transaction = connection.transaction().await?;
    let refusal = create(&transaction, settings).await?;
    if refusal.is_none() {
        transaction.commit().await?;
    }
    Ok(refusal)
}

async fn state(
    transaction: &deadpool_postgres::Transaction<'_>,
    schema: &str,
) -> Result<State, Error> {
    let row = transaction.query_typed_one(STATE, &[(&schema, Type::TEXT)]).await?;
    let version: i64 = match row.try_get(4)? {
        true => {
            let version = "SELECT coalesce(max(version), 0) FROM migrations";
            transaction.query_typed_one(version, &[]).await?.try_get(0)?
        }
        false => 0,
    };
    Ok(State {
        encoding: row.try_get(0)?,
        unbound: row.try_get(1)?,
        extension: row.try_get(2)?,
        schema: row.try_get(3)?,
        version: usize::try_from(version).unwrap_or(usize::MAX),
        shared: row.try_get(5)?,
    })
}

/// Creates what is missing, while no other memgate does.
async fn create(
    transaction: &deadpool_postgres::Transaction<'_>,
    settings: &PostgresSettings,
) -> Result<Option<PostgresRefusal>, Fault> {
    let schema = &settings.schema;
    let bounds = "SELECT set_config('statement_timeout', $1, true), \
         set_config('lock_timeout', $1, true), set_config('memgate.partitions', $2, true)";
    let (within, partitions) = (STATEMENT_WITHIN, settings.partitions.to_string());
    let values = [(&within as _, Type::TEXT), (&partitions as _, Type::TEXT)];
    transaction.query_typed(bounds, &values).await?;
    let lock = "SELECT pg_advisory_xact_lock($1, hashtext($2))";
    transaction.query_typed(lock, &[(&LOCK, Type::INT4), (schema, Type::TEXT)]).await?;
    let found = state(transaction, schema).await?;
    if !found.schema {
        // An identifier is no parameter, so the server quotes it.
        let statement = "SELECT format('CREATE SCHEMA %I', $1)";
        let statement = transaction.query_typed_one(statement, &[(schema, Type::TEXT)]).await?;
        transaction.batch_execute(statement.try_get(0)?).await?;
    }
    if !found.extension
        && let Err(error) =
            transaction.batch_execute("CREATE EXTENSION vector WITH SCHEMA public").await
    {
        return match error.code() {
            Some(state) if cannot_extend(state) => Ok(Some(PostgresRefusal::NoExtension)),
            _ => Err(error.into()),
        };
    }
    let bound = settings.timeout.as_millis().to_string();
    transaction.query_typed(SESSION, &[(schema, Type::TEXT), (&bound, Type::TEXT)]).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS migrations (version bigint PRIMARY KEY, name text NOT NULL)",
        )
        .await?;
    if found.version > MIGRATIONS.len() {
        return Ok(Some(newer(found.version)));
    }
    for (version, migration) in (1_i64..).zip(&MIGRATIONS).skip(found.version) {
        transaction.batch_execute(migration.sql).await?;
        let record = "INSERT INTO migrations (version, name) VALUES ($1, $2)";
        let values = [(&version as _, Type::INT8), (&migration.name as _, Type::TEXT)];
        transaction.execute_typed(record, &values).await?;
    }
    Ok(None)
}

/// Whether the server has no such extension, or the role may not create it.
fn cannot_extend(state: &SqlState) -> bool {
    [
        SqlState::INSUFFICIENT_PRIVILEGE,
        SqlState::FEATURE_NOT_SUPPORTED,
        SqlState::UNDEFINED_FILE,
        SqlState::UNDEFINED_OBJECT,
    ]
    .contains(state)
}

fn newer(found: usize) -> PostgresRefusal {
    PostgresRefusal::Newer { found, known: MIGRATIONS.len() }
}

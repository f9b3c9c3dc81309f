//! Schema versions and migrations.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::DatabaseError;

/// One migration. Its version is its position in the list, starting at 1. A released migration is
/// never changed, because existing files have applied it.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Its purpose, named in errors.
    pub name: &'static str,
    /// The statements, run in one transaction.
    pub sql: &'static str,
}

/// Migrates a file to the newest version, each step in its own transaction together with the new
/// version number.
pub(super) fn migrate(
    file: &Path,
    connection: &mut Connection,
    migrations: &[Migration],
) -> Result<(), DatabaseError> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let found = version(connection).map_err(|error| DatabaseError::from_sqlite(file, error))?;
    if found > known {
        return Err(DatabaseError::NewerSchema { file: file.to_owned(), found, known });
    }
    let applied = usize::try_from(found).unwrap_or_default();
    let missing = missing_column(connection, &migrations[..applied])
        .map_err(|error| DatabaseError::from_sqlite(file, error))?;
    if let Some(column) = missing {
        return Err(DatabaseError::EarlierSchema { file: file.to_owned(), column });
    }
    for (version, migration) in (1..).zip(migrations).filter(|(version, _)| *version > found) {
        take(connection, version, migration.sql).map_err(
            |error| match DatabaseError::from_sqlite(file, error) {
                DatabaseError::Sql { file, cause } => DatabaseError::Migration {
                    file,
                    version,
                    name: migration.name,
                    cause: cause.to_string(),
                },
                named => named,
            },
        )?;
    }
    Ok(())
}

/// A column that these migrations make and the file does not have: before the first release, migrations were changed.
fn missing_column(
    connection: &Connection,
    applied: &[Migration],
) -> rusqlite::Result<Option<String>> {
    let pattern = Connection::open_in_memory()?;
    applied.iter().try_for_each(|migration| pattern.execute_batch(migration.sql))?;
    let found = columns(connection)?;
    Ok(columns(&pattern)?.into_iter().find(|column| !found.contains(column)))
}

/// The columns of all tables, as `table.column`.
fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT tables.name || '.' || columns.name
             FROM sqlite_schema AS tables, pragma_table_xinfo(tables.name) AS columns
             WHERE tables.type = 'table' ORDER BY 1",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn take(connection: &mut Connection, version: i64, sql: &str) -> rusqlite::Result<()> {
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    step.execute_batch(sql)?;
    step.pragma_update(None, "user_version", version)?;
    step.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Migration =
        Migration { name: "one", sql: "CREATE TABLE a(x); INSERT INTO a VALUES (1);" };
    const TWO: Migration = Migration { name: "two", sql: "ALTER TABLE a ADD COLUMN y DEFAULT 7;" };
    const BAD: Migration = Migration { name: "bad", sql: "DELETE FROM a; SELECT nonsense;" };

    fn run(connection: &mut Connection, migrations: &[Migration]) -> Result<(), DatabaseError> {
        migrate(Path::new("/data/x.db"), connection, migrations)
    }

    #[test]
    fn an_older_file_gets_only_the_missing_migrations() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection, &[ONE]).unwrap();
        run(&mut connection, &[ONE, TWO]).unwrap();
        run(&mut connection, &[ONE, TWO]).unwrap();
        let row: (i64, i64) =
            connection.query_row("SELECT x, y FROM a", [], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
        assert_eq!((row, version(&connection).unwrap()), ((1, 7), 2));
    }

    #[test]
    fn refuses_a_file_of_before_a_migration_was_changed_and_names_what_it_lacks() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection, &[ONE]).unwrap();
        let changed = Migration { name: "one", sql: "CREATE TABLE a(x); CREATE TABLE b(y);" };
        let error = run(&mut connection, &[changed]).unwrap_err().to_string();
        assert!(error.starts_with("x.db: lacks b.y") && error.contains("export"), "{error}");
        run(&mut connection, &[ONE]).unwrap();
    }

    #[test]
    fn a_failing_migration_changes_nothing_and_is_named() {
        let mut connection = Connection::open_in_memory().unwrap();
        let error = run(&mut connection, &[ONE, BAD]).unwrap_err().to_string();
        assert!(error.starts_with("x.db: ") && error.contains("version 2 (bad)"), "{error}");
        let rows: i64 = connection.query_row("SELECT count(*) FROM a", [], |r| r.get(0)).unwrap();
        assert_eq!((rows, version(&connection).unwrap()), (1, 1));
    }

    #[test]
    fn refuses_a_newer_file_with_both_versions() {
        let mut connection = Connection::open_in_memory().unwrap();
        run(&mut connection, &[ONE, TWO]).unwrap();
        let error = run(&mut connection, &[ONE]).unwrap_err().to_string();
        assert!(error.contains("x.db: has schema version 2"), "{error}");
        assert!(error.contains("up to 1"), "{error}");
    }
}

//! The schema of the file.

use memgate_sqlite::Migration;

/// All migrations, oldest first. `AUTOINCREMENT`, because the audit log names keys by their id.
pub(crate) const MIGRATIONS: &[Migration] = &[Migration {
    name: "keys and audit",
    sql: "
CREATE TABLE key (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  scopes TEXT NOT NULL,
  tenant TEXT,
  user TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE TABLE salt (value BLOB NOT NULL) STRICT;
INSERT INTO salt VALUES (randomblob(32));
CREATE TABLE audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  reason TEXT NOT NULL,
  tenant TEXT,
  user_ref TEXT,
  target TEXT,
  count INTEGER,
  request_id TEXT
) STRICT;
CREATE INDEX audit_of_user ON audit (user_ref, id);
CREATE INDEX audit_by_time ON audit (at);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
",
}];

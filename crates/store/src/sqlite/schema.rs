//! The tables of `memories.db`, by version.
//!
//! Times are microseconds since 1970 (UTC). JSON is stored as text. An owner is its partition key
//! (`Owner::key`).

use memgate_sqlite::Migration;

/// Released migrations are never changed; new ones are appended.
pub(super) const MIGRATIONS: [Migration; 1] = [Migration { name: "memories", sql: MEMORIES }];

/// The columns that `memories` and `versions` both have. The texts come last: what a search reads stands before them, and
/// so on the first page of a row.
macro_rules! columns {
    () => {
        "
    owner            TEXT NOT NULL,
    id               TEXT NOT NULL,
    kind             TEXT NOT NULL,
    type             TEXT NOT NULL,
    sub_type         TEXT,
    project          TEXT,
    agent            TEXT,
    session          TEXT,
    visibility       TEXT NOT NULL,
    source           TEXT NOT NULL,
    status           TEXT NOT NULL,
    importance       REAL NOT NULL,
    confidence       REAL,
    decay_score      REAL,
    version          INTEGER NOT NULL,
    access_count     INTEGER NOT NULL,
    last_accessed_at INTEGER,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    event_time       INTEGER,
    valid_from       INTEGER,
    valid_until      INTEGER,
    expires_at       INTEGER,
    document         TEXT,
    chunk            INTEGER,
    tags             TEXT NOT NULL,
    metadata         TEXT NOT NULL,
    relations        TEXT NOT NULL,
    mentions         TEXT NOT NULL,
    entity_relations TEXT NOT NULL,
    provenance       TEXT NOT NULL,
    -- Who made this version, why, and for which request.
    actor            TEXT NOT NULL,
    reason           TEXT NOT NULL,
    request_id       TEXT,"
    };
}

macro_rules! texts {
    () => {
        "
    content          TEXT NOT NULL,
    reply            TEXT,
    raw              TEXT,
    structured       TEXT
) STRICT;"
    };
}

const MEMORIES: &str = concat!(
    "
-- Numbers that only ever rise.
--   generation: raised by every change that a cached copy of an owner's memories would show.
--   backfill:   raised when a memory stored long ago may have become one to embed.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('generation', 0), ('backfill', 0);

-- Everyone who has a memory, with the generation of their last change. A number
-- is never used twice, also not by an owner who comes back after being forgotten.
CREATE TABLE owners (
    owner      TEXT PRIMARY KEY,
    generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    row              INTEGER PRIMARY KEY AUTOINCREMENT,",
    columns!(),
    "
    -- The words of the memory, counted: derived, and made anew when the rules change.
    terms            BLOB NOT NULL,",
    texts!(),
    "
CREATE UNIQUE INDEX memories_by_id ON memories (owner, id);
CREATE INDEX memories_by_age ON memories (owner, created_at DESC, id DESC);
CREATE INDEX memories_by_end ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- Earlier versions.
CREATE TABLE versions (
    memory           INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,",
    columns!(),
    texts!(),
    r#"
CREATE UNIQUE INDEX versions_by_memory ON versions (memory, version);

-- Embedding spaces: model, dimension, pooling and prefixes in one name.
CREATE TABLE spaces (
    space INTEGER PRIMARY KEY,
    name  TEXT NOT NULL UNIQUE
) STRICT;

-- Vectors: 32-bit floats, little-endian.
CREATE TABLE vectors (
    memory      INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    space       INTEGER NOT NULL REFERENCES spaces (space),
    part        INTEGER NOT NULL,
    coordinates BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_by_memory ON vectors (memory, space, part);

-- Generations are raised here and not by the code that writes, so that no
-- statement, whoever sends it, can change what a cache shows unnoticed.
CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    INSERT INTO owners
        VALUES (NEW.owner, (SELECT value FROM counters WHERE name = 'generation'))
        ON CONFLICT (owner) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER memory_changed
AFTER UPDATE OF owner, id, kind, type, project, agent, session, status, created_at, expires_at, terms, content, reply
ON memories BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    INSERT INTO owners
        VALUES (NEW.owner, (SELECT value FROM counters WHERE name = 'generation'))
        ON CONFLICT (owner) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER memory_removed AFTER DELETE ON memories BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE owners SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE owner = OLD.owner;
    DELETE FROM owners WHERE owner = OLD.owner
        AND NOT EXISTS (SELECT 1 FROM memories WHERE owner = OLD.owner);
END;
CREATE TRIGGER vector_added AFTER INSERT ON vectors BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE owners SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE owner = (SELECT owner FROM memories WHERE row = NEW.memory);
END;
CREATE TRIGGER vector_changed AFTER UPDATE ON vectors BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE owners SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE owner = (SELECT owner FROM memories WHERE row = NEW.memory);
END;
-- A memory that is removed takes its vectors along; memory_removed has told of it then.
CREATE TRIGGER vector_removed AFTER DELETE ON vectors
WHEN EXISTS (SELECT 1 FROM memories WHERE row = OLD.memory) BEGIN
    UPDATE counters SET value = value + 1 WHERE name IN ('generation', 'backfill');
    UPDATE owners SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE owner = (SELECT owner FROM memories WHERE row = OLD.memory);
END;
-- Memories that are not private, by their owners, and the generation of the last change of them in each tenant: the key
-- of an owner begins with the tenant and a slash.
CREATE INDEX memories_shared ON memories (owner) WHERE visibility <> '{"kind":"private"}';
CREATE TABLE shared (
    tenant     TEXT PRIMARY KEY,
    generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER shared_added AFTER INSERT ON memories
WHEN NEW.visibility <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    INSERT INTO shared
        VALUES (substr(NEW.owner, 1, instr(NEW.owner, '/') - 1),
            (SELECT value FROM counters WHERE name = 'generation'))
        ON CONFLICT (tenant) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER shared_changed
AFTER UPDATE OF owner, id, kind, type, project, agent, session, visibility, status, created_at, expires_at, terms, content, reply
ON memories
WHEN NEW.visibility <> '{"kind":"private"}' OR OLD.visibility <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    INSERT INTO shared
        VALUES (substr(NEW.owner, 1, instr(NEW.owner, '/') - 1),
            (SELECT value FROM counters WHERE name = 'generation'))
        ON CONFLICT (tenant) DO UPDATE SET generation = excluded.generation;
END;
CREATE TRIGGER shared_removed AFTER DELETE ON memories
WHEN OLD.visibility <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE shared SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE tenant = substr(OLD.owner, 1, instr(OLD.owner, '/') - 1);
END;
CREATE TRIGGER shared_vector_added AFTER INSERT ON vectors
WHEN (SELECT visibility FROM memories WHERE row = NEW.memory) <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE shared SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE tenant = (SELECT substr(owner, 1, instr(owner, '/') - 1) FROM memories WHERE row = NEW.memory);
END;
CREATE TRIGGER shared_vector_changed AFTER UPDATE ON vectors
WHEN (SELECT visibility FROM memories WHERE row = NEW.memory) <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE shared SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE tenant = (SELECT substr(owner, 1, instr(owner, '/') - 1) FROM memories WHERE row = NEW.memory);
END;
CREATE TRIGGER shared_vector_removed AFTER DELETE ON vectors
WHEN (SELECT visibility FROM memories WHERE row = OLD.memory) <> '{"kind":"private"}' BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'generation';
    UPDATE shared SET generation = (SELECT value FROM counters WHERE name = 'generation')
        WHERE tenant = (SELECT substr(owner, 1, instr(owner, '/') - 1) FROM memories WHERE row = OLD.memory);
END;
CREATE TRIGGER memory_back_in_use AFTER UPDATE OF status ON memories
WHEN NEW.status IN ('active', 'review') AND OLD.status NOT IN ('active', 'review') BEGIN
    UPDATE counters SET value = value + 1 WHERE name = 'backfill';
END;

-- `mentions` and `entity_relations` of a memory are the source; the tables below are derived from them
-- for lookups by name.

-- What an owner's memories speak of, by the key of its name. Everything else that could be told of
-- an entity (its kind, when it was first and last spoken of, how often) is told by the mentions,
-- and so nothing is left of a memory that goes.
CREATE TABLE entities (
    entity INTEGER PRIMARY KEY,
    owner  TEXT NOT NULL,
    name   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entities_by_name ON entities (owner, name);

-- Which memories speak of it, in their current versions.
CREATE TABLE mentions (
    entity INTEGER NOT NULL REFERENCES entities (entity) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    kind   TEXT,
    PRIMARY KEY (entity, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX mentions_by_memory ON mentions (memory);

-- What they say of two of them. Both are mentioned by the same memory.
CREATE TABLE entity_relations (
    subject   INTEGER NOT NULL REFERENCES entities (entity) ON DELETE CASCADE,
    object    INTEGER NOT NULL REFERENCES entities (entity) ON DELETE CASCADE,
    memory    INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    predicate TEXT NOT NULL,
    PRIMARY KEY (subject, object, memory, predicate)
) STRICT, WITHOUT ROWID;
CREATE INDEX entity_relations_by_object ON entity_relations (object);
CREATE INDEX entity_relations_by_memory ON entity_relations (memory);

CREATE TRIGGER mention_removed AFTER DELETE ON mentions BEGIN
    DELETE FROM entities WHERE entity = OLD.entity
        AND NOT EXISTS (SELECT 1 FROM mentions WHERE entity = OLD.entity);
END;
"#
);

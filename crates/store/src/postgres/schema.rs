//! The tables, by version.
//!
//! Times are microseconds since 1970 (UTC). JSON is stored as text, exactly as it was written. An
//! owner is its partition key (`Owner::key`). Text may hold an escaped NUL (`rows::text`).

/// One step to the current schema.
pub(super) struct Migration {
    /// Recorded with the version.
    pub(super) name: &'static str,
    /// Statements without parameters. `memgate.partitions` is the number of partitions.
    pub(super) sql: &'static str,
}

/// Released migrations are never changed; new ones are appended.
pub(super) const MIGRATIONS: [Migration; 1] = [Migration { name: "memories", sql: MEMORIES }];

/// The columns that `memories` and `versions` both have.
macro_rules! columns {
    () => {
        r#"
    owner            text COLLATE "C" NOT NULL,
    id               text COLLATE "C" NOT NULL,
    kind             text NOT NULL,
    type             text NOT NULL,
    sub_type         text,
    project          text,
    agent            text,
    session          text,
    visibility       text NOT NULL,
    source           text NOT NULL,
    status           text NOT NULL,
    importance       real NOT NULL,
    confidence       real,
    decay_score      real,
    version          bigint NOT NULL,
    access_count     bigint NOT NULL,
    last_accessed_at bigint,
    created_at       bigint NOT NULL,
    updated_at       bigint NOT NULL,
    event_time       bigint,
    valid_from       bigint,
    valid_until      bigint,
    expires_at       bigint,
    document         text,
    chunk            bigint,
    tags             text NOT NULL,
    metadata         text NOT NULL,
    relations        text NOT NULL,
    provenance       text NOT NULL,
    content          text NOT NULL,
    reply            text,
    raw              text,
    structured       text,
    mentions         text NOT NULL,
    entity_relations text NOT NULL,
    -- Who made this version, why, and for which request.
    actor            text NOT NULL,
    reason           text NOT NULL,
    request_id       text,"#
    };
}

const MEMORIES: &str = concat!(
    r#"
-- Numbers of memories, in the order in which they were stored.
CREATE SEQUENCE memory_numbers;
-- Numbers of changes. None is used twice, also not by an owner who comes back after being
-- forgotten.
CREATE SEQUENCE generations;

-- Everyone who has a memory, with the generation of their last change. Every change of an owner's
-- memories begins by writing here, so of two writers one waits for the other.
CREATE TABLE owners (
    owner      text COLLATE "C" PRIMARY KEY,
    generation bigint NOT NULL
) WITH (fillfactor = 70);

-- Embedding spaces: model, dimension, pooling and prefixes in one name.
CREATE TABLE spaces (
    space integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name  text COLLATE "C" NOT NULL UNIQUE
);

-- No foreign keys: between tables of n partitions, each pair of partitions would get one. The rows
-- of a memory are written and removed together, under its owner's lock.
CREATE TABLE memories (
    number           bigint NOT NULL DEFAULT nextval('memory_numbers'),"#,
    columns!(),
    r#"
    -- Derived: the words of the memory, counted; content and reply in lower case, where that differs
    -- from the content; and
    -- what filters ask for of tags, metadata and entities.
    terms            bytea NOT NULL,
    folded           text,
    labels           text[] NOT NULL,
    -- The part of the owner's key before the slash.
    tenant           text COLLATE "C" NOT NULL GENERATED ALWAYS AS (split_part(owner, '/', 1)) STORED,
    PRIMARY KEY (owner, id),
    UNIQUE (number, owner)
) PARTITION BY HASH (owner);
CREATE INDEX memories_by_age ON memories (owner, created_at DESC, id DESC);
CREATE INDEX memories_shared ON memories (tenant) WHERE visibility <> '{"kind":"private"}';

-- The tenants in which something is shared, with the generation of the last change of it.
CREATE TABLE shared (
    tenant     text COLLATE "C" PRIMARY KEY,
    generation bigint NOT NULL
) WITH (fillfactor = 70);
CREATE FUNCTION note_shared() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
    IF (TG_OP <> 'INSERT' AND OLD.visibility <> '{"kind":"private"}')
        OR (TG_OP <> 'DELETE' AND NEW.visibility <> '{"kind":"private"}') THEN
        INSERT INTO shared
            VALUES (CASE TG_OP WHEN 'DELETE' THEN OLD.tenant ELSE NEW.tenant END, nextval('generations'))
            ON CONFLICT (tenant) DO UPDATE SET generation = excluded.generation;
    END IF;
    RETURN NULL;
END $f$;
-- Presentations that are counted change nothing that a search looks at.
CREATE TRIGGER note_shared AFTER INSERT OR DELETE
    OR UPDATE OF owner, kind, type, project, agent, session, visibility, status, expires_at, terms ON memories
    FOR EACH ROW EXECUTE FUNCTION note_shared();

-- Earlier versions.
CREATE TABLE versions (
    memory           bigint NOT NULL,"#,
    columns!(),
    r#"
    PRIMARY KEY (owner, memory, version)
) PARTITION BY HASH (owner);

-- Vectors of any dimension.
CREATE TABLE vectors (
    owner       text COLLATE "C" NOT NULL,
    memory      bigint NOT NULL,
    space       integer NOT NULL REFERENCES spaces,
    part        smallint NOT NULL,
    coordinates vector NOT NULL,
    PRIMARY KEY (owner, memory, space, part)
) PARTITION BY HASH (owner);

-- Row-level security: a transaction sees and writes the rows of the owner that it was begun for,
-- or those of everybody ('*', which is no owner's key). Without an owner it sees nothing. FORCE,
-- because memgate's role owns the tables.
DO $$
DECLARE
    partitions integer := current_setting('memgate.partitions');
    whose text := $policy$ (SELECT current_setting('memgate.owner', true)) $policy$;
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['memories', 'versions', 'vectors', 'owners'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY of_owner ON %I USING (owner = %s OR %s = ''*'')', name, whose, whose);
    END LOOP;
    -- In the place of an owner, what is shared in a tenant can be named; no owner has such a key. Then a reader's
    -- transaction sees what is public, or shared with this user or one of these roles.
    EXECUTE format($policy$CREATE POLICY shared ON memories FOR SELECT USING (
        visibility <> '{"kind":"private"}' AND tenant || '/%%shared' = %s
        AND (visibility = '{"kind":"public"}'
            OR visibility::jsonb -> 'users' ? (SELECT current_setting('memgate.reader', true))
            OR visibility::jsonb -> 'roles' ?| (SELECT ARRAY(SELECT jsonb_array_elements_text(
                coalesce(nullif(current_setting('memgate.roles', true), ''), '[]')::jsonb)))))$policy$, whose);
    -- What a transaction sees of the memories decides.
    EXECUTE format($policy$CREATE POLICY shared ON vectors FOR SELECT USING (
        right(%s, 8) = '/%%shared' AND EXISTS (SELECT FROM memories
            WHERE memories.owner = vectors.owner AND memories.number = vectors.memory))$policy$, whose);
    FOREACH name IN ARRAY ARRAY['memories', 'versions', 'vectors'] LOOP
        FOR remainder IN 0 .. partitions - 1 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                name || '_' || remainder, name, partitions, remainder);
            -- Nothing is read past the parent table and its policy.
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name || '_' || remainder);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name || '_' || remainder);
            -- What is forgotten leaves the pages soon, not after a fifth of the table has changed.
            EXECUTE format(
                'ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.01)',
                name || '_' || remainder);
        END LOOP;
    END LOOP;
    FOR remainder IN 0 .. partitions - 1 LOOP
        -- Room for the access count on the same page; and vectors of up to 2,000 dimensions stay
        -- in their rows.
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 85)', 'memories_' || remainder);
        EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 8160)', 'vectors_' || remainder);
    END LOOP;
END $$;
"#
);

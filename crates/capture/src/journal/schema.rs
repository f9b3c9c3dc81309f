//! The journal's tables. Times are milliseconds since 1970.

use memgate_sqlite::Migration;

/// Released migrations are never changed; new ones are appended.
pub(crate) const MIGRATIONS: &[Migration] = &[Migration { name: "journal", sql: SCHEMA }];

const SCHEMA: &str = "
-- The turns that belong together. `base` names a session as its key does; one
-- that is derived starts a new `generation`, with a name of its own, after idle time.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    name TEXT NOT NULL,
    base TEXT NOT NULL,
    generation INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    ended_at INTEGER,
    -- Complete turns, and how many of them an extraction was asked for.
    turns INTEGER NOT NULL DEFAULT 0,
    extracted INTEGER NOT NULL DEFAULT 0,
    -- When the same user began a newer session; NULL again with the next turn.
    left_at INTEGER,
    -- The last turn that a summary was asked for; 0 when none was, NULL when none is to be made any
    -- more, because the user had it forgotten.
    summed_up INTEGER DEFAULT 0,
    UNIQUE (tenant, user, name),
    UNIQUE (tenant, user, base, generation)
) STRICT;
-- Those without a user (`Owner::SESSION_NAMES`), which are looked at each minute.
CREATE INDEX sessions_without_user ON sessions (tenant, user, active_at)
    WHERE user >= char(1) || 'session:' AND user < char(1) || 'session;';

-- What a session knows besides, by name, for as long as it is true.
CREATE TABLE session_values (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

-- One user message with all that answered it.
CREATE TABLE turns (
    -- Never used twice: jobs name turns by it.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    digest TEXT NOT NULL,
    project TEXT,
    agent TEXT,
    -- The response it follows, where the request named one.
    follows TEXT,
    user_text TEXT NOT NULL,
    had_media INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'complete')),
    began_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    -- When it was first complete, and thereby counted in its session.
    counted_at INTEGER,
    -- A fact found here was forgotten: none is looked for again, or it would come back.
    withheld INTEGER NOT NULL DEFAULT 0,
    -- What the user asked of memory itself; JSON. NULL when nothing, and once it was forgotten.
    orders TEXT,
    -- Where another person than the user said it.
    speaker TEXT,
    -- The IANA name of the user's time zone; NULL is UTC.
    zone TEXT,
    -- Whether a client wrote the message on the user's account; NULL until a job has asked the model.
    is_prompt INTEGER,
    -- Digest of all messages before it, where its request held them.
    history TEXT,
    -- Whether its message came again: regenerated, or as the beginning of another conversation.
    repeated INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, ordinal, digest)
) STRICT;
CREATE UNIQUE INDEX turns_by_key ON turns (tenant, user, key);

-- What the model said, in order: `depth` is the number of tool calls before it.
CREATE TABLE replies (
    turn INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    depth INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    user TEXT NOT NULL,
    response_id TEXT,
    model TEXT,
    text TEXT NOT NULL,
    refusal TEXT,
    ending TEXT NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    request_id TEXT,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (turn, depth)
) STRICT, WITHOUT ROWID;
CREATE INDEX replies_by_response ON replies (tenant, user, response_id)
    WHERE response_id IS NOT NULL;

-- The turn's tool calls in order.
CREATE TABLE tool_calls (
    turn INTEGER NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    input TEXT NOT NULL,
    output TEXT,
    -- Unknown until the result is there, or where the result does not say.
    success INTEGER,
    error TEXT,
    latency_ms INTEGER,
    PRIMARY KEY (turn, position)
) STRICT, WITHOUT ROWID;

-- Work that is owed. A job is deleted when done; a dead one stays until somebody looks.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    -- What it is about, unique within its kind: a turn, a session.
    subject INTEGER NOT NULL,
    -- Its scope. Jobs of one lane never run at the same time.
    tenant TEXT,
    user TEXT,
    lane TEXT NOT NULL,
    payload TEXT,
    due_at INTEGER NOT NULL,
    -- Runs again so long after it was done.
    every_ms INTEGER,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'dead')),
    tries INTEGER NOT NULL DEFAULT 0,
    last_error TEXT,
    -- Grows when it is asked for again, so that a run that began before does not end it.
    wanted INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    UNIQUE (kind, subject)
) STRICT;
CREATE INDEX jobs_by_owner ON jobs (tenant, user);

-- When the first pending job of each lane is due. A lane is one user; what waits
-- behind a long queue of one is found without reading that queue.
CREATE TABLE lanes (
    lane TEXT PRIMARY KEY,
    -- Whether its jobs wait for a model server: these run apart from all others.
    extractions INTEGER NOT NULL,
    due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX lanes_by_due ON lanes (extractions, due_at, lane);
CREATE INDEX jobs_by_lane ON jobs (lane, due_at, id) WHERE state = 'pending';
CREATE INDEX jobs_dead ON jobs (kind, due_at) WHERE state = 'dead';
CREATE TRIGGER job_added AFTER INSERT ON jobs WHEN new.state = 'pending' BEGIN
    INSERT INTO lanes VALUES (new.lane, new.lane LIKE 'extract//%', new.due_at)
        ON CONFLICT (lane) DO UPDATE SET due_at = excluded.due_at
        WHERE excluded.due_at < due_at;
END;
CREATE TRIGGER job_changed AFTER UPDATE OF due_at, state ON jobs
    WHEN new.due_at <> old.due_at OR new.state <> old.state BEGIN
    DELETE FROM lanes WHERE lane = new.lane;
    INSERT INTO lanes SELECT lane, lane LIKE 'extract//%', due_at FROM jobs
        WHERE lane = new.lane AND state = 'pending' ORDER BY due_at LIMIT 1;
END;
CREATE TRIGGER job_removed AFTER DELETE ON jobs WHEN old.state = 'pending' BEGIN
    DELETE FROM lanes WHERE lane = old.lane;
    INSERT INTO lanes SELECT lane, lane LIKE 'extract//%', due_at FROM jobs
        WHERE lane = old.lane AND state = 'pending' ORDER BY due_at LIMIT 1;
END;
";

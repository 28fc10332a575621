-- `EJCO`: the data of a console.
PRAGMA application_id = 1162494799;
PRAGMA user_version = 1;

-- Who came in, and who was kept out.
CREATE TABLE access_event (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    origin TEXT,
    event TEXT NOT NULL,
    detail TEXT,
    count INTEGER NOT NULL,
    -- Refusals of a kind on a day are one row; other events have none, and are never merged.
    merge_key TEXT UNIQUE
) STRICT;
CREATE INDEX access_event_at ON access_event (at, id);

-- What operators did in registry centers without a database of traces.
CREATE TABLE action (
    id TEXT PRIMARY KEY,
    registry TEXT NOT NULL,
    job TEXT NOT NULL,
    at INTEGER NOT NULL,
    items TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX action_at ON action (registry, at, id);

-- Users and tokens that were made on pages.
CREATE TABLE user (
    name TEXT PRIMARY KEY,
    password_hash TEXT NOT NULL,
    -- A list of objects with role, registries and jobs.
    grants TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
CREATE TABLE token (
    name TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    grants TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT;

-- The configurations of jobs as the console saw them, with secrets masked.
CREATE TABLE configuration_version (
    id INTEGER PRIMARY KEY,
    registry TEXT NOT NULL,
    job TEXT NOT NULL,
    version INTEGER NOT NULL,
    -- When it was written, by the clock of the registry center.
    at INTEGER NOT NULL,
    -- Empty for a change that was not made by this console.
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    settings TEXT NOT NULL,
    UNIQUE (registry, job, at, version)
) STRICT;

-- Alarms that an operator has seen.
CREATE TABLE alarm_acknowledgement (
    registry TEXT NOT NULL,
    alarm TEXT NOT NULL,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    silent_until INTEGER,
    note TEXT NOT NULL,
    PRIMARY KEY (registry, alarm)
) STRICT;

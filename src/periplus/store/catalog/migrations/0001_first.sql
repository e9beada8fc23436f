-- One row per host name, the unit of politeness.
CREATE TABLE hosts (
    host_id    INTEGER PRIMARY KEY,
    host       TEXT NOT NULL UNIQUE,
    domain     TEXT NOT NULL,
    delay      REAL,                      -- seconds; NULL: the configured one
    delay_why  TEXT NOT NULL DEFAULT '',
    next_fetch REAL NOT NULL DEFAULT 0,
    failures   INTEGER NOT NULL DEFAULT 0, -- consecutive errors
    urls       INTEGER NOT NULL DEFAULT 0  -- admitted so far; checked against the caps
);

-- One row per admitted URL. Clustered by URL, so that the links of one page are adjacent.
CREATE TABLE urls (
    url        TEXT PRIMARY KEY,
    host_id    INTEGER NOT NULL,
    state      INTEGER NOT NULL,          -- model.UrlState
    reason     TEXT NOT NULL,             -- why it is in this state: model.Reason
    detail     TEXT NOT NULL DEFAULT '',
    depth      INTEGER NOT NULL,
    priority   REAL NOT NULL,
    due        REAL NOT NULL,
    admitted   TEXT NOT NULL,             -- why it was admitted: model.Reason
    via        TEXT NOT NULL,
    redirects  INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    first_seen REAL NOT NULL,
    changed    REAL NOT NULL
) WITHOUT ROWID;

CREATE TRIGGER urls_counted AFTER INSERT ON urls BEGIN
    UPDATE hosts SET urls = urls + 1 WHERE host_id = NEW.host_id;
END;

-- The 64-bit keys of all URLs, packed: opening a collection of ten million reads these, not the rows.
CREATE TABLE seen (
    chunk_id INTEGER PRIMARY KEY,
    keys     BLOB NOT NULL               -- unsigned, little-endian
);

-- The queues: the queued URLs of each host, best first.
CREATE INDEX urls_queue ON urls (host_id, priority, due) WHERE state = 0;

-- One row per acknowledged attempt, never changed.
CREATE TABLE fetches (
    fetch_id      INTEGER PRIMARY KEY,
    run_id        INTEGER NOT NULL,
    url_key       INTEGER NOT NULL,       -- 64-bit hash of the URL
    url           TEXT NOT NULL,
    at            REAL NOT NULL,
    status        INTEGER NOT NULL,
    verdict       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    detail        TEXT NOT NULL,
    mime          TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    content_id    BLOB,
    archive_id    INTEGER,
    offset        INTEGER,
    length        INTEGER,
    redirect_to   TEXT NOT NULL,
    etag          TEXT NOT NULL,
    last_modified TEXT NOT NULL,
    seconds       REAL NOT NULL
);
CREATE INDEX fetches_url ON fetches (url_key);
CREATE INDEX fetches_position ON fetches (archive_id, offset) WHERE archive_id IS NOT NULL;

-- Archive files: bytes past `committed` are not acknowledged, bytes past `sealed` are not in a segment yet.
CREATE TABLE archives (
    archive_id INTEGER PRIMARY KEY,
    worker     INTEGER NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    committed  INTEGER NOT NULL,
    sealed     INTEGER NOT NULL DEFAULT 0
);

-- The manifest: the live segments.
CREATE TABLE segments (
    segment_id   INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,           -- pages or links
    worker       INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    rows         INTEGER NOT NULL,
    bytes        INTEGER NOT NULL,
    sha256       BLOB NOT NULL,
    made         REAL NOT NULL
);

CREATE TABLE robots (
    origin     TEXT PRIMARY KEY,
    fetched_at REAL NOT NULL,
    status     INTEGER NOT NULL,          -- 0: unreachable
    body       BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE seeds (
    url   TEXT PRIMARY KEY,
    given REAL NOT NULL
) WITHOUT ROWID;

-- Refused links are counted, and a few are stored as samples.
CREATE TABLE refusals (
    host    TEXT NOT NULL,
    reason  TEXT NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (host, reason)
) WITHOUT ROWID;
CREATE TABLE refusal_samples (
    host   TEXT NOT NULL,
    reason TEXT NOT NULL,
    url    TEXT NOT NULL,
    detail TEXT NOT NULL,
    via    TEXT NOT NULL,
    PRIMARY KEY (host, reason, url)
) WITHOUT ROWID;

-- Counters, so that `status` need not count millions of rows; `verify` recounts.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
    run_id    INTEGER PRIMARY KEY,
    started   REAL NOT NULL,
    ended     REAL,                       -- NULL: running, or killed
    outcome   TEXT NOT NULL DEFAULT 'running',
    arguments TEXT NOT NULL,              -- JSON
    summary   TEXT NOT NULL DEFAULT '{}'  -- JSON, as of the last commit
);

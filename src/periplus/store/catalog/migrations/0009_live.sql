-- The processes of a collection: one row each, written about once a second.
CREATE TABLE workers (
    node      TEXT NOT NULL,              -- name of the machine
    role      TEXT NOT NULL,              -- crawl, index or serve
    number    INTEGER NOT NULL,           -- of the process within its role
    pid       INTEGER NOT NULL,
    started   REAL NOT NULL,
    seen      REAL NOT NULL,              -- time of the last report
    state     TEXT NOT NULL,              -- running, idle, paused, draining
    commanded INTEGER NOT NULL,           -- the last command that the process has carried out
    figures   TEXT NOT NULL,              -- JSON: counters, URLs under way with their steps
    PRIMARY KEY (node, role, number)
) WITHOUT ROWID;

-- What the user has told the processes to do, oldest first. A command is done when every process has carried it out.
CREATE TABLE commands (
    command_id INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused, so that readers can continue from the last id
    given      REAL NOT NULL,
    action     TEXT NOT NULL,             -- store.live_state.Action
    node       TEXT NOT NULL,             -- empty: every node
    arguments  TEXT NOT NULL,             -- JSON
    origin     TEXT NOT NULL              -- command line, console or API
);

-- Figures of the whole collection over time, for charts and alerts; the oldest are removed.
CREATE TABLE samples (
    at      REAL PRIMARY KEY,
    figures TEXT NOT NULL                 -- JSON
) WITHOUT ROWID;

-- Hosts that the user has blocked, besides the scope.
CREATE TABLE blocked_hosts (
    host  TEXT PRIMARY KEY,
    since REAL NOT NULL
) WITHOUT ROWID;

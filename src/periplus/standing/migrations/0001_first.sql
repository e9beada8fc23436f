-- Saved queries, with the state of their webhook.
CREATE TABLE queries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,              -- in the address of the feed; cannot be guessed
    query TEXT NOT NULL,
    created REAL NOT NULL,
    generation TEXT NOT NULL,             -- of the index, when the query was checked last
    checked_at REAL NOT NULL,
    webhook TEXT NOT NULL,                -- URL; empty: none
    delivered INTEGER NOT NULL DEFAULT 0, -- the last item that the webhook has taken
    failures INTEGER NOT NULL DEFAULT 0,  -- in a row
    failure TEXT NOT NULL DEFAULT '',     -- why the last delivery failed
    next_attempt REAL NOT NULL DEFAULT 0
);

-- What standing queries have found, in the order in which it was found.
CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    query INTEGER NOT NULL,
    change TEXT NOT NULL,                 -- new or changed
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    snippet TEXT NOT NULL,
    fetched_at REAL NOT NULL,
    found_at REAL NOT NULL
);
CREATE INDEX items_of_query ON items (query, number);

-- The newest version of every page that has matched a query.
CREATE TABLE versions (
    query INTEGER NOT NULL,
    page INTEGER NOT NULL,                -- hash of the URL
    fetched_at REAL NOT NULL,
    text INTEGER NOT NULL,                -- hash of title and text
    PRIMARY KEY (query, page)
) WITHOUT ROWID;
CREATE INDEX versions_by_text ON versions (query, text);

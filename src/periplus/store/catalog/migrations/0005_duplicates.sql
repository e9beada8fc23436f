-- The first URL with each content: other URLs with the same content are duplicates, whichever worker fetched them.
CREATE TABLE contents (
    content BLOB PRIMARY KEY,             -- the first half of its SHA-256
    url_key INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO contents (content, url_key)
SELECT substr(content_id, 1, 16), url_key FROM fetches
WHERE content_id IS NOT NULL AND verdict = 'fetched' AND bytes > 0 ORDER BY fetch_id
ON CONFLICT DO NOTHING;

-- URL patterns whose pages had nothing new.
CREATE TABLE patterns (
    host    TEXT NOT NULL,
    pattern TEXT NOT NULL,
    score   REAL NOT NULL,                -- a trap from frontier.trap_fetches on
    fetched INTEGER NOT NULL,
    wasted  INTEGER NOT NULL,
    saved   INTEGER NOT NULL,
    probe   INTEGER NOT NULL,
    PRIMARY KEY (host, pattern)
) WITHOUT ROWID;

-- Duplicates, as of their last version.
CREATE TABLE copies (
    url      TEXT PRIMARY KEY,
    original TEXT NOT NULL,
    bits     INTEGER                       -- differing signature bits; NULL: same bytes
) WITHOUT ROWID;
CREATE INDEX copies_original ON copies (original);

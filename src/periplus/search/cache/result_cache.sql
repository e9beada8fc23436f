-- name: create
CREATE TABLE IF NOT EXISTS results (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    generation TEXT NOT NULL,
    digest BLOB NOT NULL,
    content BLOB NOT NULL
);

-- name: read
SELECT digest, content FROM results WHERE key = ?;

-- name: write
INSERT OR IGNORE INTO results (key, generation, digest, content) VALUES (?, ?, ?, ?);

-- name: used_bytes
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size();

-- name: remove_oldest
DELETE FROM results WHERE id IN (SELECT id FROM results ORDER BY id LIMIT ?);

-- name: remove_all
DELETE FROM results;

-- name: remove_other_generations
DELETE FROM results WHERE generation NOT IN (SELECT value FROM json_each(?));

-- Statements of the standing queries. Hashes are signed 64-bit integers.

-- name: queries
-- All saved queries, with the number of their items and of those that the webhook has not taken.
SELECT queries.*, count(items.number) AS items,
       count(items.number) FILTER (WHERE items.number > queries.delivered AND queries.webhook != '') AS waiting
FROM queries LEFT JOIN items ON items.query = queries.number
GROUP BY queries.number ORDER BY queries.number;

-- name: add_query
INSERT INTO queries (id, query, created, generation, checked_at, webhook) VALUES (?, ?, ?, ?, ?, ?);

-- name: remove_query
DELETE FROM queries WHERE number = ?;

-- name: remove_items
DELETE FROM items WHERE query = ?;

-- name: remove_versions
DELETE FROM versions WHERE query = ?;

-- name: set_checked
UPDATE queries SET generation = ?, checked_at = ? WHERE number = ?;

-- name: add_item
INSERT INTO items (query, change, url, title, snippet, fetched_at, found_at) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: keep_newest_items
-- Parameters: the query, and how many items are kept.
DELETE FROM items WHERE query = ?1 AND number <= coalesce(
    (SELECT number FROM items WHERE query = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2), 0);

-- name: newest_items
SELECT number, change, url, title, snippet, fetched_at, found_at FROM items WHERE query = ? ORDER BY number DESC;

-- name: waiting_items
-- Parameters: the query, the last item that the webhook has taken, and how many items are wanted.
SELECT number, change, url, title, snippet, fetched_at, found_at FROM items
WHERE query = ? AND number > ? ORDER BY number LIMIT ?;

-- name: forget_items
DELETE FROM items WHERE url = ?;

-- name: forget_versions
DELETE FROM versions WHERE page = ?;

-- name: overwrite_deleted
PRAGMA secure_delete = ON;

-- name: empty_log
-- Removes the content of the write-ahead log, which may have deleted rows.
PRAGMA wal_checkpoint(TRUNCATE);

-- name: version
SELECT fetched_at, text FROM versions WHERE query = ? AND page = ?;

-- name: has_text
SELECT 1 FROM versions WHERE query = ? AND text = ?;

-- name: put_version
INSERT INTO versions (query, page, fetched_at, text) VALUES (?, ?, ?, ?)
ON CONFLICT (query, page) DO UPDATE SET fetched_at = excluded.fetched_at, text = excluded.text
WHERE excluded.fetched_at >= fetched_at;

-- name: delivered
-- The webhook has taken all items up to this one.
UPDATE queries SET delivered = ?, failures = 0, failure = '', next_attempt = 0 WHERE number = ?;

-- name: not_delivered
UPDATE queries SET failures = failures + 1, failure = ?, next_attempt = ? WHERE number = ?;

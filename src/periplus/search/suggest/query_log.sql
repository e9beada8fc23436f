-- name: create
CREATE TABLE IF NOT EXISTS queries (
    query TEXT NOT NULL PRIMARY KEY,
    days INTEGER NOT NULL,  -- on which it was searched
    last_day INTEGER NOT NULL  -- since 1970
) WITHOUT ROWID;

-- name: create_index
CREATE INDEX IF NOT EXISTS frequent ON queries (query, days) WHERE days >= 5;

-- name: add
INSERT INTO queries (query, days, last_day) VALUES (?1, 1, ?2)
ON CONFLICT (query) DO UPDATE SET days = days + 1, last_day = ?2 WHERE last_day < ?2;

-- name: forget_old
DELETE FROM queries WHERE last_day < ?;

-- name: count
SELECT COUNT(*) FROM queries;

-- name: forget_rare
DELETE FROM queries WHERE query IN (SELECT query FROM queries ORDER BY days, last_day LIMIT ?);

-- name: beginning
SELECT query FROM queries WHERE days >= 5 AND query > ?1 AND query < ?1 || char(1114111) ORDER BY days DESC, query LIMIT ?2;

-- name: queries
SELECT query FROM queries;

-- name: remove
DELETE FROM queries WHERE query = ?;

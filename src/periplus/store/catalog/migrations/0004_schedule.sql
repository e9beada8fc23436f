-- For URLs that are not queued, `due` is the time of the next visit; infinity: none.
ALTER TABLE urls ADD COLUMN interval REAL NOT NULL DEFAULT 0; -- seconds from the last visit to the next, 0: no visit yet
ALTER TABLE urls ADD COLUMN evidence REAL NOT NULL DEFAULT 0; -- changes that the interval was estimated from
ALTER TABLE urls ADD COLUMN visited REAL NOT NULL DEFAULT 0;  -- when the last complete fetch was

UPDATE urls SET interval = 86400, visited = changed, due = changed + 86400 WHERE state IN (1, 3);
UPDATE urls SET due = 9e999 WHERE state = 2;

-- URLs due for a recrawl. Queued URLs are not in this index, so new URLs do not slow down.
CREATE INDEX urls_due ON urls (due, interval) WHERE state > 0;

-- Which files of a worker are in the object store; only a fleet asks.

-- name: extend_waiting_archive
-- As extend_archive. What was uploaded before is not the whole file any more.
INSERT INTO archives (worker, name, committed, stored) VALUES (?, ?, ?, FALSE)
ON CONFLICT (name) DO UPDATE SET committed = excluded.committed, stored = FALSE RETURNING archive_id;

-- name: hold_segment
-- A segment that waits for its upload.
UPDATE segments SET stored = FALSE WHERE name = ?;

-- name: waiting_archives
SELECT name, committed FROM archives WHERE worker = ? AND NOT stored ORDER BY archive_id;

-- name: waiting_segments
-- Links before pages. Segments wait for the archive files of their pages.
SELECT name, bytes, digest FROM segments WHERE worker = ?1 AND NOT stored
AND NOT EXISTS (SELECT 1 FROM archives WHERE worker = ?1 AND NOT stored AND sealed > 0) ORDER BY number, kind;

-- name: store_archive
-- No row: the file was given up. FALSE: it has grown since its upload.
UPDATE archives SET stored = stored OR committed = ?2 WHERE name = ?1 RETURNING stored;

-- name: store_segment
UPDATE segments SET stored = stored OR digest = ?2 WHERE name = ?1 RETURNING stored;

-- name: is_archive_removable
SELECT 1 FROM archives WHERE name = ? AND stored AND sealed >= committed;

-- name: is_segment_removable
SELECT 1 FROM segments WHERE name = ? AND stored;

-- name: lost_workers
-- Workers that have had no lease for some seconds, and have files that were not uploaded.
SELECT worker_id FROM leases WHERE ends < clock_timestamp() - ?::float8 * interval '1 second'
AND EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored) ORDER BY worker_id;

-- name: lock_lost_worker
-- A worker that comes back waits for this lock when it joins.
SELECT 1 FROM fleet_workers JOIN leases USING (worker_id)
WHERE worker_id = ? AND ends < clock_timestamp() - ?::float8 * interval '1 second' FOR UPDATE OF fleet_workers;

-- name: give_up_archives
-- Locks the rows against a node that has come back and uploads.
SELECT archive_id FROM archives WHERE worker = ? AND NOT stored ORDER BY archive_id FOR UPDATE;

-- name: drop_archive
DELETE FROM archives WHERE archive_id = ?;

-- name: drop_waiting_segments
DELETE FROM segments WHERE worker = ? AND NOT stored;

-- name: lost_urls
SELECT url, state FROM urls WHERE url IN (SELECT url FROM fetches WHERE archive_id = ?) ORDER BY url FOR UPDATE;

-- name: remove_lost_nodes
-- Nodes without a lease for some seconds, whose files are all uploaded or given up.
DELETE FROM nodes WHERE NOT EXISTS (
    SELECT 1 FROM fleet_workers JOIN leases USING (worker_id) WHERE fleet_workers.folder = nodes.folder
    AND (ends > clock_timestamp() - ?::float8 * interval '1 second' OR EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored)))
RETURNING name;

-- name: remove_lost_processes
-- The reports of processes of a node that is gone, unless another folder uses its name now.
DELETE FROM workers WHERE node = ?1 AND role = 'crawl' AND NOT EXISTS (SELECT 1 FROM nodes WHERE name = ?1);

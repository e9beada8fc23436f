-- Which files of a worker are in the object store; only a fleet asks.

-- name: extend_waiting_archive
-- As extend_archive. What was uploaded before is not the whole file any more.
INSERT INTO archives (worker, name, committed, stored, sealed_by) VALUES (?1, ?2, ?3, FALSE, ?1)
ON CONFLICT (name) DO UPDATE SET committed = excluded.committed, stored = FALSE RETURNING archive_id;

-- name: hold_segment
-- A segment that waits for its upload.
UPDATE segments SET stored = FALSE, sealed_before = (SELECT jsonb_object_agg(archive_id, sealed) FROM archives WHERE archive_id = ANY(?2::bigint[]))
WHERE name = ?1;

-- name: waiting_archives
SELECT name, committed FROM archives WHERE worker = ANY(?::bigint[]) AND NOT stored ORDER BY archive_id;

-- name: waiting_segments
-- Links before pages. A segment waits for the archive files of its pages, and not for those that the worker has begun since.
SELECT name, bytes, digest FROM segments WHERE worker = ANY(?1::bigint[]) AND NOT stored
AND NOT EXISTS (SELECT 1 FROM archives WHERE NOT stored AND jsonb_exists(segments.sealed_before, archive_id::text)) ORDER BY worker, number, kind;

-- name: store_archive
-- No row: the file was given up. FALSE: it has grown since its upload.
UPDATE archives SET stored = stored OR committed = ?2 WHERE name = ?1 RETURNING stored;

-- name: store_segment
UPDATE segments SET stored = stored OR digest = ?2 WHERE name = ?1 RETURNING stored;

-- name: is_archive_removable
SELECT 1 FROM archives WHERE name = ? AND stored AND sealed >= committed;

-- name: is_segment_removable
SELECT 1 FROM segments WHERE name = ? AND stored;

-- name: extend_grace
-- A node that has left goes on uploading without a lease. Its time of silence begins anew.
UPDATE leases SET ends = clock_timestamp() WHERE worker_id = ANY(?::bigint[]) AND is_live = 0;

-- name: lost_workers
-- Workers that have had no lease for some seconds, and have files that were not uploaded, or pages that are in no uploaded segment.
-- A node with fewer workers than before uploads the files of the others itself.
SELECT worker_id FROM leases WHERE is_live = 0 AND ends < clock_timestamp() - ?::float8 * interval '1 second'
AND NOT EXISTS (SELECT 1 FROM fleet_workers AS former JOIN fleet_workers AS other USING (folder) JOIN leases AS lease ON lease.worker_id = other.worker_id
    WHERE former.worker_id = leases.worker_id AND lease.is_live = 1)
AND (EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored)
    OR EXISTS (SELECT 1 FROM archives WHERE sealed_by = worker_id AND sealed < committed)
    OR EXISTS (SELECT 1 FROM segments WHERE worker = worker_id AND NOT stored)) ORDER BY worker_id;

-- name: lock_lost_worker
-- A worker that comes back waits for this lock when it joins. Its lease was taken, so every transaction of its earlier process is refused.
SELECT 1 FROM fleet_workers JOIN leases USING (worker_id)
WHERE worker_id = ? AND is_live = 0 AND ends < clock_timestamp() - ?::float8 * interval '1 second' FOR UPDATE OF fleet_workers;

-- name: has_live_node
-- Whether another worker of its folder has a lease. A statement of its own, after the lock: it sees a node that has joined meanwhile.
SELECT 1 FROM fleet_workers AS former JOIN fleet_workers AS other USING (folder) JOIN leases ON leases.worker_id = other.worker_id
WHERE former.worker_id = ? AND is_live = 1;

-- name: give_up_archives
-- Locks the rows against a node that has come back and uploads.
SELECT archive_id FROM archives WHERE worker = ? AND NOT stored ORDER BY archive_id FOR UPDATE;

-- name: drop_archive
DELETE FROM archives WHERE archive_id = ?;

-- name: uncover_waiting_segments
-- The pages of segments that were not uploaded are in no segment.
UPDATE archives SET sealed = least(archives.sealed, before.sealed) FROM (
    SELECT key::bigint AS archive_id, min(value::bigint) AS sealed FROM segments, jsonb_each_text(sealed_before)
    WHERE worker = ? AND NOT stored GROUP BY 1) AS before
WHERE archives.archive_id = before.archive_id;

-- name: drop_waiting_segments
-- With the links of a segment whose pages were not uploaded.
DELETE FROM segments WHERE worker = ?1 AND number IN (SELECT number FROM segments WHERE worker = ?1 AND NOT stored);

-- name: take_over_archives
-- Another worker writes segments of the uploaded pages that are in none.
UPDATE archives SET sealed_by = ?2 WHERE sealed_by = ?1 AND sealed < committed;

-- name: unsealed_archives
SELECT archive_id, name, committed, sealed FROM archives WHERE coalesce(sealed_by, worker) = ? AND sealed < committed ORDER BY archive_id;

-- name: unsealed_pages
-- As on one machine. The pages of a segment that waits for its upload are in no segment yet, because nobody reads it.
SELECT count(*), min(fetches.at)
FROM (SELECT archive_id, committed, least(archives.sealed, waiting.sealed) AS sealed FROM archives LEFT JOIN (
        SELECT key::bigint AS archive_id, min(value::bigint) AS sealed FROM segments, jsonb_each_text(sealed_before)
        WHERE NOT stored AND kind = 'pages' GROUP BY 1) AS waiting USING (archive_id)) AS archives
JOIN fetches ON fetches.archive_id = archives.archive_id AND fetches."offset" >= archives.sealed
WHERE archives.committed > archives.sealed AND fetches.archive_id IS NOT NULL
AND fetches.verdict = 'fetched' AND fetches.content_id IS NOT NULL;

-- name: lost_urls
SELECT url, state FROM urls WHERE url IN (SELECT url FROM fetches WHERE archive_id = ?) ORDER BY url FOR UPDATE;

-- name: remove_lost_nodes
-- Nodes without a lease for some seconds, whose files are all uploaded or given up.
DELETE FROM nodes WHERE NOT EXISTS (
    SELECT 1 FROM fleet_workers JOIN leases USING (worker_id) WHERE fleet_workers.folder = nodes.folder
    AND (ends > clock_timestamp() - ?::float8 * interval '1 second' OR EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored)))
RETURNING name;

-- name: leave_uploaded_node
-- When a worker has uploaded its last file after its lease.
DELETE FROM nodes WHERE folder = (SELECT folder FROM fleet_workers WHERE worker_id = ?) AND NOT EXISTS (
    SELECT 1 FROM fleet_workers JOIN leases USING (worker_id) WHERE fleet_workers.folder = nodes.folder
    AND (is_live = 1 OR EXISTS (SELECT 1 FROM archives WHERE worker = worker_id AND NOT stored)));

-- name: remove_lost_processes
-- The reports of processes of a node that is gone, unless another folder uses its name now.
DELETE FROM workers WHERE node = ?1 AND role = 'crawl' AND NOT EXISTS (SELECT 1 FROM nodes WHERE name = ?1);

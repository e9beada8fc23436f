-- The statements of `periplus prune`.

-- name: archived_fetches
-- Every archive record, URL by URL and in the order of the fetches.
SELECT url_key, url, at, verdict, reason, content_id, archive_id, "offset", length FROM fetches
WHERE archive_id IS NOT NULL ORDER BY url_key, fetch_id;

-- name: referred_contents
-- Contents that revisit records refer to whose URL has no record with that content.
SELECT DISTINCT content_id FROM fetches AS revisit
WHERE reason IN ('same_content', 'not_modified') AND content_id IS NOT NULL AND archive_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM fetches AS own WHERE own.url_key = revisit.url_key AND own.content_id = revisit.content_id
                    AND own.reason NOT IN ('same_content', 'not_modified'));

-- name: drop_record
-- A fetch whose archive record is removed stays in the history.
UPDATE fetches SET archive_id = NULL, "offset" = NULL, length = NULL WHERE archive_id = ? AND "offset" = ?;

-- name: move_record
UPDATE fetches SET "offset" = ? WHERE archive_id = ? AND "offset" = ?;

-- name: replace_archive
UPDATE archives SET name = ?, committed = ?, sealed = ? WHERE archive_id = ? AND name = ?;

-- name: rename_archive
UPDATE archives SET name = ? WHERE archive_id = ?;

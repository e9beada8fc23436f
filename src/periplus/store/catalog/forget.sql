-- The statements of `periplus forget`. Given: the functions forgotten(url), forgotten_host(host), forgotten_origin(origin)
-- and scrubbed(text), which replaces forgotten URLs and hosts in a text.

-- name: text_columns
SELECT tables.name, columns.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table' AND columns.type = 'TEXT' ORDER BY tables.name, columns.cid;

-- name: keep_bodies
-- Archived bodies of forgotten URLs that revisit records of other URLs refer to, which have no copy of their own.
CREATE TEMP TABLE kept_bodies AS
WITH referred AS MATERIALIZED (
    SELECT DISTINCT content_id FROM fetches AS revisit
    WHERE reason IN ('same_content', 'not_modified') AND content_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM fetches AS own WHERE own.url_key = revisit.url_key AND own.content_id = revisit.content_id
                        AND own.reason NOT IN ('same_content', 'not_modified'))
      AND NOT forgotten(url))
SELECT fetch_id FROM fetches
WHERE content_id IN (SELECT content_id FROM referred) AND archive_id IS NOT NULL
  AND reason NOT IN ('same_content', 'not_modified') AND forgotten(url);

-- name: drop_kept_bodies
DROP TABLE IF EXISTS kept_bodies;

-- name: forgotten_positions
-- Archive records to erase: those of forgotten URLs, and redirects to them.
SELECT name, "offset", length FROM fetches JOIN archives USING (archive_id)
WHERE (forgotten(url) OR (redirect_to <> '' AND forgotten(redirect_to))) AND fetch_id NOT IN (SELECT fetch_id FROM kept_bodies)
ORDER BY name, "offset";

-- name: kept_positions
SELECT name, "offset", length FROM fetches JOIN archives USING (archive_id)
WHERE fetch_id IN (SELECT fetch_id FROM kept_bodies);

-- name: forgotten_urls
SELECT url FROM urls WHERE forgotten(url);

-- name: same_content
-- Other URLs with the same bytes as a version of a forgotten URL.
SELECT DISTINCT url FROM fetches WHERE verdict = 'fetched' AND bytes > 0 AND NOT forgotten(url) AND content_id IN (
    SELECT content_id FROM fetches WHERE verdict = 'fetched' AND bytes > 0 AND forgotten(url));

-- name: lost_seeds
-- Other known URLs of the hosts of forgotten seeds, one for each host: they keep the host in the scope.
SELECT min(url) FROM urls WHERE NOT forgotten(url)
  AND host_id IN (SELECT host_id FROM urls JOIN seeds USING (url) WHERE forgotten(url)) GROUP BY host_id;

-- name: forget_seeds
DELETE FROM seeds WHERE forgotten(url);

-- name: forget_urls
DELETE FROM urls WHERE forgotten(url);

-- name: forget_vias
UPDATE urls SET via = '' WHERE via <> '' AND forgotten(via);

-- name: forget_details
UPDATE urls SET detail = scrubbed(detail) WHERE detail <> '' AND scrubbed(detail) <> detail;

-- name: forget_fetches
DELETE FROM fetches WHERE (forgotten(url) OR (redirect_to <> '' AND forgotten(redirect_to)))
  AND fetch_id NOT IN (SELECT fetch_id FROM kept_bodies);

-- name: mark_kept_bodies
-- The body that stays is no version of a page any more.
UPDATE fetches SET verdict = 'refused', reason = 'forgotten' WHERE fetch_id IN (SELECT fetch_id FROM kept_bodies);

-- name: forget_fetch_details
UPDATE fetches SET detail = scrubbed(detail) WHERE detail <> '' AND scrubbed(detail) <> detail;

-- name: forget_contents
DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM fetches WHERE fetches.url_key = contents.url_key);

-- name: first_contents
INSERT INTO contents (content, url_key)
SELECT substr(content_id, 1, 16), url_key FROM fetches
WHERE content_id IS NOT NULL AND verdict = 'fetched' AND bytes > 0 AND NOT forgotten(url) ORDER BY fetch_id
ON CONFLICT DO NOTHING;

-- name: forget_copies
DELETE FROM copies WHERE forgotten(url) OR forgotten(original);

-- name: forget_inbox
DELETE FROM inbox WHERE forgotten(url);

-- name: forget_inbox_vias
UPDATE inbox SET via = '' WHERE via <> '' AND forgotten(via);

-- name: forget_samples
DELETE FROM refusal_samples WHERE forgotten_host(host) OR forgotten(url);

-- name: forget_sample_texts
UPDATE refusal_samples SET via = scrubbed(via), detail = scrubbed(detail)
WHERE scrubbed(via) <> via OR scrubbed(detail) <> detail;

-- name: forget_refusals
DELETE FROM refusals WHERE forgotten_host(host);

-- name: forget_patterns
DELETE FROM patterns WHERE forgotten_host(host);

-- name: forget_robots
DELETE FROM robots WHERE forgotten_origin(origin);

-- name: forget_hosts
DELETE FROM hosts WHERE forgotten_host(host);

-- name: forget_runs
UPDATE runs SET arguments = scrubbed(arguments), summary = scrubbed(summary)
WHERE scrubbed(arguments) <> arguments OR scrubbed(summary) <> summary;

-- name: forget_worker_runs
UPDATE run_workers SET summary = scrubbed(summary) WHERE scrubbed(summary) <> summary;

-- name: forget_commands
UPDATE commands SET arguments = scrubbed(arguments) WHERE scrubbed(arguments) <> arguments;

-- name: forget_workers
-- Rows of processes that were killed: they name the URLs that were under way.
UPDATE workers SET figures = scrubbed(figures) WHERE scrubbed(figures) <> figures;

-- name: forget_blocked_hosts
DELETE FROM blocked_hosts WHERE forgotten_host(host);

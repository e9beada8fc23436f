-- Statements for many rows at once. The rows are copied into the temporary table `batch_NAME`, whose columns are in the
-- line `columns`. Rows that agree in the column `key` cannot be written at once: they are written one by one.
-- `state + 0` keeps the planner from reading the whole queue for some URLs, when its statistics are old.

-- name: admit
-- columns: url text, depth integer, priority float8, due float8, reason text, via text, redirects integer, host_id bigint, now float8
INSERT INTO urls (url, host_id, state, reason, depth, priority, due, admitted, via, redirects, attempts, first_seen, changed)
SELECT url, host_id, 0, reason, depth, priority, due, reason, via, redirects, 0, now, now FROM batch_admit ORDER BY url
ON CONFLICT DO NOTHING;

-- name: settle
-- columns: state smallint, reason text, detail text, attempts integer, due float8, priority float8, visits integer, interval float8, evidence float8, visited float8, changed float8, url text
-- key: url
UPDATE urls SET state = batch.state, reason = batch.reason, detail = batch.detail, attempts = batch.attempts, due = batch.due,
                priority = batch.priority, visits = batch.visits, interval = batch.interval, evidence = batch.evidence,
                visited = batch.visited, changed = batch.changed
FROM batch_settle AS batch WHERE urls.url = batch.url AND urls.state + 0 = 0;

-- name: revisit
-- columns: priority float8, visits integer, url text, state smallint
-- key: url
UPDATE urls SET state = 0, reason = 'revisit', detail = '', attempts = 0, due = 0, priority = batch.priority, visits = batch.visits
FROM batch_revisit AS batch WHERE urls.url = batch.url AND urls.state = batch.state;

-- name: apply_sitemap_date
-- columns: modified float8, settled float8, patience float8, longest float8, url text
-- key: url
UPDATE urls SET due = CASE WHEN visited < modified THEN least(due, modified)
                           WHEN visited >= settled THEN greatest(due, visited + least(patience * interval, longest))
                           ELSE due END
FROM batch_apply_sitemap_date AS batch WHERE urls.url = batch.url AND urls.state + 0 = 1;

-- name: add_fetch
-- columns: run_id bigint, url_key bigint, url text, at float8, status integer, verdict text, reason text, detail text, mime text, bytes bigint, content_id bytea, archive_id bigint, "offset" bigint, length bigint, redirect_to text, etag text, last_modified text, seconds float8
INSERT INTO fetches (run_id, url_key, url, at, status, verdict, reason, detail, mime, bytes, content_id, archive_id, "offset", length,
                     redirect_to, etag, last_modified, seconds)
SELECT * FROM batch_add_fetch;

-- name: add_content
-- columns: content bytea, url_key bigint
INSERT INTO contents (content, url_key) SELECT content, url_key FROM batch_add_content ON CONFLICT DO NOTHING;

-- name: set_exact_copy
-- columns: content bytea, url_key bigint, url text
-- key: url
INSERT INTO copies (url, original)
SELECT batch.url, (SELECT url FROM fetches WHERE fetches.url_key = contents.url_key LIMIT 1)
FROM batch_set_exact_copy AS batch JOIN contents USING (content) WHERE contents.url_key <> batch.url_key
ON CONFLICT (url) DO UPDATE SET original = excluded.original, bits = NULL;

-- name: remove_copy
-- columns: url text
DELETE FROM copies USING batch_remove_copy AS batch WHERE copies.url = batch.url;

-- name: count_refusal
-- columns: host text, reason text, count bigint
-- key: host, reason
INSERT INTO refusals (host, reason, count) SELECT host, reason, count FROM batch_count_refusal ORDER BY host, reason
ON CONFLICT (host, reason) DO UPDATE SET count = refusals.count + excluded.count;

-- name: set_policy
-- columns: delay float8, delay_why text, next_fetch float8, failures integer, host_id bigint
-- key: host_id
UPDATE hosts SET delay = batch.delay, delay_why = batch.delay_why, next_fetch = batch.next_fetch, failures = batch.failures
FROM batch_set_policy AS batch WHERE hosts.host_id = batch.host_id;

-- name: add_quality
-- columns: pages bigint, text float8, length float8, links float8, title float8, language float8, news float8, host_id bigint
-- key: host_id
UPDATE hosts SET pages = hosts.pages + batch.pages, text = hosts.text + batch.text, length = hosts.length + batch.length,
                 links = hosts.links + batch.links, title = hosts.title + batch.title,
                 language = hosts.language + batch.language, news = hosts.news + batch.news
FROM batch_add_quality AS batch WHERE hosts.host_id = batch.host_id;

-- name: add_forwarded_url
-- columns: share integer, url text, depth integer, reason text, via text, redirects integer
INSERT INTO inbox (share, url, depth, reason, via, redirects)
SELECT share, url, depth, reason, via, redirects FROM batch_add_forwarded_url;

-- name: remove_forwarded_url
-- columns: letter_id bigint
DELETE FROM inbox USING batch_remove_forwarded_url AS batch WHERE inbox.letter_id = batch.letter_id;

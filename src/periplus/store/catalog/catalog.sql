-- Every statement of the catalog, by name.

-- name: host_id
SELECT host_id FROM hosts WHERE host = ?;

-- name: add_host
INSERT INTO hosts (host, domain, share) VALUES (?, ?, ?) RETURNING host_id;

-- name: set_policy
UPDATE hosts SET delay = ?, delay_why = ?, next_fetch = ?, failures = ? WHERE host_id = ?;

-- name: policy
SELECT host, delay, delay_why, next_fetch, failures FROM hosts WHERE host = ?;

-- name: add_quality
UPDATE hosts SET pages = pages + ?, text = text + ?, length = length + ?, links = links + ?, title = title + ?,
                 language = language + ?, news = news + ? WHERE host_id = ?;

-- name: quality
SELECT pages, text / pages, length / pages, links / pages, title / pages, language / pages, news / pages
FROM hosts WHERE host = ? AND pages > 0;

-- name: waiting_hosts
-- Hosts with queued URLs: one look-up in the queue index per host.
SELECT host, delay, delay_why, next_fetch, failures FROM hosts
WHERE EXISTS (SELECT 1 FROM urls WHERE urls.host_id = hosts.host_id AND state = 0)
AND (share IS NULL OR share IN (SELECT value FROM json_each(?)));

-- name: admit
-- Add a new URL. The seen filter was checked before, but only the constraint is decisive.
INSERT INTO urls (url, host_id, state, reason, depth, priority, due, admitted, via, redirects, attempts, first_seen, changed)
VALUES (?1, ?8, 0, ?5, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?9, ?9) ON CONFLICT DO NOTHING;

-- name: settle
-- Store the result of an attempt at a queued URL.
UPDATE urls SET state = ?, reason = ?, detail = ?, attempts = ?, due = ?, priority = ?, visits = ?, interval = ?, evidence = ?,
                visited = ?, changed = ? WHERE url = ? AND state = 0;

-- name: settle_any
-- Store the result of an attempt at a URL in any state.
UPDATE urls SET state = ?, reason = ?, detail = ?, attempts = ?, due = ?, priority = ?, visits = ?, interval = ?, evidence = ?,
                visited = ?, changed = ? WHERE url = ?;

-- name: state_unless_changed
-- The state of a URL, unless it was changed at the given time.
SELECT state FROM urls WHERE url = ? AND changed <> ?;

-- name: requeue
-- Requeue a seed in the given state. Earlier releases did not count visits, so a fetched URL has at least one.
UPDATE urls SET state = 0, reason = 'seed', detail = '', attempts = 0, due = 0, visits = CASE WHEN ?3 = 1 AND visits < 1 THEN 1 ELSE visits END,
                changed = ?1
WHERE url = ?2 AND state = ?3;

-- name: requeue_sitemap
-- Requeue a sitemap in the given state.
UPDATE urls SET state = 0, reason = 'sitemap', admitted = 'sitemap', detail = '', depth = 0, redirects = 0, attempts = 0, due = 0,
                changed = ? WHERE url = ? AND state = ?;

-- name: due_again
-- URLs that are not queued and are due for a recrawl, ordered by due time, after a position in that order.
SELECT url, host, state, depth, priority, admitted, via, redirects, due, visits, interval, evidence, visited
FROM urls JOIN hosts USING (host_id)
WHERE state > 0 AND due <= ? AND (due, interval, url) > (?, ?, ?) ORDER BY due, interval, url LIMIT ?;

-- name: next_due_again
-- Infinity is never due.
SELECT min(due) FROM urls WHERE state > 0 AND due > ? AND due < 9e999;

-- name: revisit
-- Queue a URL for a recrawl if it is still in the given state.
UPDATE urls SET state = 0, reason = 'revisit', detail = '', attempts = 0, due = 0, priority = ?, visits = ?
WHERE url = ? AND state = ?;

-- name: apply_sitemap_date
-- Apply the modification date in a sitemap: a page visited before that date is due, one visited later gets more time.
UPDATE urls SET due = CASE WHEN visited < ?1 THEN CASE WHEN due > ?1 THEN ?1 ELSE due END
                           WHEN visited >= ?2 AND due < visited + CASE WHEN ?3 * interval < ?4 THEN ?3 * interval ELSE ?4 END
                           THEN visited + CASE WHEN ?3 * interval < ?4 THEN ?3 * interval ELSE ?4 END
                           ELSE due END
WHERE url = ?5 AND state = 1;

-- name: due_by_interval
-- Number of URLs due for a recrawl by class of interval. Counts at most a million.
SELECT CASE WHEN interval <= ?2 THEN 0 WHEN interval <= ?3 THEN 1 WHEN interval <= ?4 THEN 2 ELSE 3 END, count(*)
FROM (SELECT interval FROM urls WHERE state > 0 AND due <= ?1 LIMIT 1000000) AS due_urls GROUP BY 1;

-- name: vanished
-- Once fetched pages in a range of URLs that are now gone, redirected or refused, with the reason. Not refusals by the
-- scope, which may have changed since, nor for a missing contact, which says nothing about the page.
SELECT url, visited, reason FROM urls WHERE url >= ? AND url < ? AND visits > 0 AND (
    (state = 1 AND reason = 'redirected')
    OR (state = 2 AND reason NOT IN ('no_contact', 'scope_host', 'blocked', 'seed_removed', 'scope_path', 'extension', 'too_long', 'trap_depth', 'trap_repeat'))
    OR (state = 3 AND reason = 'http_error' AND detail IN ('404', '410')));

-- name: imported_out_of_scope
SELECT url FROM urls WHERE admitted = 'imported';

-- name: import_out_of_scope
-- Mark a page that is indexed although the scope refuses it. A sitemap stays a sitemap.
UPDATE urls SET admitted = 'imported' WHERE url = ? AND admitted <> 'sitemap';

-- name: release_held
-- Make URLs that waited for the next round due.
UPDATE urls SET due = 0 WHERE state = 0 AND due = 9e999;

-- name: queue_of_host
-- The best due URLs of a host, including those already in memory.
SELECT url, depth, priority, admitted, via, redirects, attempts, due, visits, interval, evidence, visited FROM urls
WHERE host_id = ? AND state = 0 AND due <= ? ORDER BY priority, due LIMIT ?;

-- name: queue
-- Queued URLs with host and depth, host by host.
SELECT url, host, depth FROM urls JOIN hosts USING (host_id) WHERE state = 0 LIMIT ?;

-- name: queued_hosts
SELECT host, queued FROM hosts WHERE queued > 0;

-- name: head_of_queue
SELECT url, depth FROM urls WHERE host_id = (SELECT host_id FROM hosts WHERE host = ?) AND state = 0 ORDER BY priority, due LIMIT ?;

-- name: next_due
-- Infinity is never due.
SELECT min(due) FROM urls WHERE host_id = ? AND state = 0 AND due > ? AND due < 9e999;

-- name: known_urls
SELECT url FROM urls;

-- name: add_seen
INSERT INTO seen (keys, shares) VALUES (?, ?);

-- name: seen
SELECT keys, shares FROM seen ORDER BY chunk_id;

-- name: seen_sizes
-- The oldest chunks that can be sorted by share, with their bytes.
SELECT chunk_id, length(keys) FROM seen WHERE shares IS NOT NULL ORDER BY chunk_id LIMIT ?;

-- name: take_seen
-- Remove chunks that are about to be packed. Another worker may have taken some of them.
DELETE FROM seen WHERE shares IS NOT NULL AND chunk_id <= ? RETURNING keys, shares;

-- name: pack_seen
INSERT INTO packed_seen (share, keys) VALUES (?, ?);

-- name: packed_seen
SELECT share, keys FROM packed_seen WHERE share IN (SELECT value FROM json_each(?));

-- name: clear_seen
DELETE FROM seen;

-- name: clear_packed_seen
DELETE FROM packed_seen;

-- name: url
SELECT url, state, reason, detail, depth, priority, due, admitted, via, redirects, attempts, visits, interval, evidence,
       visited, first_seen, changed FROM urls WHERE url = ?;

-- name: url_states_between
-- Number of URLs by state and reason in a range of URLs. The URLs of one host are adjacent.
SELECT state, reason, count(*) FROM urls WHERE url >= ? AND url < ? GROUP BY state, reason;

-- name: size_of_domain
SELECT count(*), coalesce(sum(urls), 0) FROM hosts WHERE domain = ? AND urls > 0;

-- name: domain_sizes
-- URLs admitted so far per registrable domain, for the caps.
SELECT domain, sum(urls) FROM hosts
WHERE urls > 0 AND (share IS NULL OR share IN (SELECT value FROM json_each(?))) GROUP BY domain;

-- name: hosts
-- Hosts with URLs, each with its registrable domain.
SELECT host, domain FROM hosts WHERE urls > 0 AND (share IS NULL OR share IN (SELECT value FROM json_each(?)));

-- name: add_fetch
INSERT INTO fetches (run_id, url_key, url, at, status, verdict, reason, detail, mime, bytes, content_id, archive_id, "offset", length,
                     redirect_to, etag, last_modified, seconds)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: fetches_of_url
SELECT url, at, status, verdict, reason, detail, mime, bytes, content_id, name, "offset", length, redirect_to, etag, last_modified, seconds
FROM fetches LEFT JOIN archives USING (archive_id) WHERE url_key = ? AND url = ? ORDER BY fetch_id;

-- name: fetches_of_archive
-- Fetches in an archive file from an offset on, in order.
SELECT url, at, status, verdict, reason, detail, mime, bytes, content_id, name, "offset", length, redirect_to, etag, last_modified, seconds
FROM fetches JOIN archives USING (archive_id) WHERE archive_id = ? AND "offset" >= ? ORDER BY "offset";

-- name: redirects
SELECT url, redirect_to, at FROM fetches WHERE redirect_to <> '';

-- name: add_content
-- Store the first URL with this content.
INSERT INTO contents (content, url_key) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: set_exact_copy
-- Store that a page has the same bytes as another.
INSERT INTO copies (url, original)
SELECT ?3, (SELECT url FROM fetches WHERE fetches.url_key = contents.url_key LIMIT 1)
FROM contents WHERE content = ?1 AND url_key <> ?2
ON CONFLICT (url) DO UPDATE SET original = excluded.original, bits = NULL;

-- name: set_near_copy
INSERT INTO copies (url, original, bits) VALUES (?, ?, ?)
ON CONFLICT (url) DO UPDATE SET original = excluded.original, bits = excluded.bits;

-- name: remove_copy
DELETE FROM copies WHERE url = ?;

-- name: copy
SELECT url, original, bits FROM copies WHERE url = ?;

-- name: copies_of
SELECT url FROM copies WHERE original = ? ORDER BY url LIMIT ?;

-- name: set_pattern
INSERT INTO patterns (host, pattern, score, fetched, wasted, saved, probe, repeated, spent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (host, pattern) DO UPDATE SET score = excluded.score, fetched = excluded.fetched, wasted = excluded.wasted,
    saved = excluded.saved, probe = excluded.probe, repeated = excluded.repeated, spent = excluded.spent;

-- name: patterns
SELECT host, pattern, score, fetched, wasted, saved, probe, repeated, spent FROM patterns;

-- name: patterns_of_host
SELECT host, pattern, score, fetched, wasted, saved, probe, repeated, spent FROM patterns
WHERE host = ? ORDER BY saved DESC, score DESC, pattern;

-- name: requeue_refused
-- Requeue the URLs that a pattern refused. The URLs of a host are adjacent, one range per scheme.
UPDATE urls SET state = 0, reason = admitted, detail = '', due = 0, changed = ?1
WHERE (url >= 'http://' || ?2 || '/' AND url < 'http://' || ?2 || char(59) OR url >= 'https://' || ?2 || '/' AND url < 'https://' || ?2 || char(59))
  AND state = 2 AND reason = 'trap_learned' AND instr(detail, ' like ' || ?3 || ' said ') > 0
  AND host_id = (SELECT host_id FROM hosts WHERE host = ?2);

-- name: archives
SELECT archive_id, name, committed, sealed FROM archives WHERE worker = ? ORDER BY archive_id;

-- name: all_archives
SELECT archive_id, name, committed, sealed FROM archives ORDER BY archive_id;

-- name: unsealed_archives
-- The archive files of a worker with acknowledged pages that are in no segment.
SELECT archive_id, name, committed, sealed FROM archives WHERE worker = ? AND sealed < committed ORDER BY archive_id;

-- name: extend_archive
-- Add an archive file at its first commit, or update its acknowledged size.
INSERT INTO archives (worker, name, committed) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET committed = excluded.committed RETURNING archive_id;

-- name: seal_archive
-- Store how many bytes of an archive file are in segments.
UPDATE archives SET sealed = ? WHERE archive_id = ?;

-- name: unsealed_pages
-- How many acknowledged pages no segment has yet, and when the first of them was fetched.
SELECT count(*), min(fetches.at)
FROM archives JOIN fetches ON fetches.archive_id = archives.archive_id AND fetches."offset" >= archives.sealed
WHERE archives.committed > archives.sealed AND fetches.archive_id IS NOT NULL
AND fetches.verdict = 'fetched' AND fetches.content_id IS NOT NULL;

-- name: add_segment
INSERT INTO segments (name, kind, rows, bytes, digest, worker, number, made) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: replace_segment
UPDATE segments SET name = ?, kind = ?, rows = ?, bytes = ?, digest = ?, made = ? WHERE name = ?;

-- name: merge_segment
-- Replace the first of several merged segments. `number` becomes that of the last one, so that no number is used twice.
UPDATE segments SET name = ?, kind = ?, rows = ?, bytes = ?, digest = ?, made = ?, number = ? WHERE name = ?;

-- name: segments
SELECT name, kind, rows, bytes, digest FROM segments ORDER BY segment_id;

-- name: last_segment
SELECT coalesce(max(number), 0) FROM segments WHERE worker = ?;

-- name: robots
SELECT origin, fetched_at, status, body FROM robots WHERE origin = ?;

-- name: robots_of_origin
-- With or without a port.
SELECT origin, fetched_at, status, body FROM robots WHERE origin = ? OR (origin >= ? AND origin < ?) ORDER BY origin;

-- name: set_robots
INSERT INTO robots (origin, fetched_at, status, body) VALUES (?, ?, ?, ?)
ON CONFLICT (origin) DO UPDATE SET fetched_at = excluded.fetched_at, status = excluded.status, body = excluded.body;

-- name: seeds
SELECT url FROM seeds ORDER BY given, url;

-- name: add_seed
INSERT INTO seeds (url, given) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: count_refusal
INSERT INTO refusals (host, reason, count) VALUES (?, ?, ?)
ON CONFLICT (host, reason) DO UPDATE SET count = refusals.count + excluded.count;

-- name: count_refused_links
INSERT INTO refused_links (reason, count) VALUES (?, ?)
ON CONFLICT (reason) DO UPDATE SET count = refused_links.count + excluded.count;

-- name: add_refusal_sample
-- Keeps at most 100 examples per host and rule.
INSERT INTO refusal_samples (host, reason, url, detail, via)
SELECT ?1, ?2, ?3, ?4, ?5 WHERE (SELECT count(*) FROM refusal_samples WHERE host = ?1 AND reason = ?2) < 100
ON CONFLICT DO NOTHING;

-- name: refusal_sample
SELECT reason, detail, via FROM refusal_samples WHERE host = ? AND url = ?;

-- name: refusals_by_reason
SELECT reason, count FROM refused_links ORDER BY 2 DESC;

-- name: refusals_of_host
SELECT reason, count FROM refusals WHERE host = ? ORDER BY count DESC;

-- name: add_to_counter
INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value;

-- name: counters
SELECT name, value FROM counters;

-- name: miscounted_hosts
-- Hosts whose counters of URLs differ from a recount: all, queued, refused and failed URLs, as stored and as counted.
SELECT host, urls, queued, refused, failed, coalesce(counted, 0), coalesce(waiting, 0), coalesce(turned_down, 0), coalesce(erring, 0)
FROM hosts LEFT JOIN
    (SELECT host_id, count(*) AS counted, count(*) FILTER (WHERE state = 0) AS waiting, count(*) FILTER (WHERE state = 2) AS turned_down,
            count(*) FILTER (WHERE state = 3) AS erring FROM urls GROUP BY host_id) AS recounted USING (host_id)
WHERE (urls, queued, refused, failed) <> (coalesce(counted, 0), coalesce(waiting, 0), coalesce(turned_down, 0), coalesce(erring, 0))
LIMIT 10;

-- name: recount_urls
SELECT state, count(*) FROM urls GROUP BY state;

-- name: recount_fetches
SELECT count(*), coalesce(sum(bytes), 0) FROM fetches WHERE verdict = 'fetched';

-- name: begin_run
INSERT INTO runs (started, arguments) VALUES (?, ?) RETURNING run_id;

-- name: newest_runs
SELECT run_id, started, ended, outcome, arguments, summary FROM runs ORDER BY run_id DESC LIMIT ?;

-- name: run
SELECT run_id, started, ended, outcome, arguments, summary FROM runs WHERE run_id = ?;

-- name: end_run
UPDATE runs SET ended = ?, outcome = ?, summary = ? WHERE run_id = ?;

-- name: set_summary
UPDATE runs SET summary = ? WHERE run_id = ?;

-- name: clear_worker_summaries
DELETE FROM run_workers WHERE run_id = ?;

-- name: set_worker_summary
INSERT INTO run_workers (run_id, worker, summary) VALUES (?, ?, ?)
ON CONFLICT (run_id, worker) DO UPDATE SET summary = excluded.summary;

-- name: worker_summaries
SELECT summary FROM run_workers WHERE run_id = ? ORDER BY worker;

-- name: worker_summary
SELECT summary FROM run_workers WHERE run_id = ? AND worker = ?;

-- name: add_forwarded_url
INSERT INTO inbox (share, url, depth, reason, via, redirects) VALUES (?, ?, ?, ?, ?, ?);

-- name: forwarded_urls
SELECT letter_id, share, url, depth, reason, via, redirects FROM inbox WHERE letter_id > ? ORDER BY letter_id LIMIT ?;

-- name: remove_forwarded_url
DELETE FROM inbox WHERE letter_id = ?;

-- name: archive_workers
SELECT DISTINCT worker FROM archives ORDER BY worker;

-- name: remove_fetch
DELETE FROM fetches WHERE archive_id = ? AND "offset" = ?;

-- name: remove_content_without_fetch
DELETE FROM contents WHERE url_key = ?1 AND NOT EXISTS (SELECT 1 FROM fetches WHERE fetches.url_key = ?1);

-- name: queue_lost
-- Queue a URL whose archive record is lost. It counts as visited if another version of it is left.
UPDATE urls SET state = 0, reason = admitted, detail = 'its archive record was damaged', attempts = 0, due = 0, changed = ?1,
                visits = (SELECT count(*) FROM fetches WHERE url_key = ?2 AND fetches.url = ?3 AND verdict IN ('fetched', 'unchanged'))
WHERE url = ?3;

-- name: set_archive_size
UPDATE archives SET committed = ?, sealed = ? WHERE archive_id = ?;

-- name: claim_segments
UPDATE archives SET sealed = committed;

-- name: drop_segment
DELETE FROM segments WHERE name = ?;

-- name: clear_counters
DELETE FROM counters;

-- name: recount_hosts
UPDATE hosts SET (urls, queued, refused, failed) =
    (SELECT count(*), count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = 2), count(*) FILTER (WHERE state = 3)
     FROM urls AS admitted WHERE admitted.host_id = hosts.host_id);

-- name: clear_outcomes
DELETE FROM outcomes;

-- name: recount_outcomes
INSERT INTO outcomes (state, reason, status, count)
SELECT state, reason, status, count(*) FROM urls WHERE state >= 2 GROUP BY 1, 2, 3;

-- name: miscounted_outcomes
-- Reasons whose counter of refused and failed URLs differs from a recount.
SELECT reason, status, sum(stored), sum(counted)
FROM (SELECT state, reason, status, count AS stored, 0 AS counted FROM outcomes
      UNION ALL SELECT state, reason, status, 0, count(*) FROM urls WHERE state >= 2 GROUP BY 1, 2, 3) AS both_counts
GROUP BY state, reason, status HAVING sum(stored) <> sum(counted) LIMIT 10;

-- name: publish_worker
INSERT INTO workers (node, role, number, pid, started, seen, state, commanded, figures)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (node, role, number) DO UPDATE SET pid = excluded.pid, started = excluded.started, seen = excluded.seen,
    state = excluded.state, commanded = excluded.commanded, figures = excluded.figures;

-- name: remove_worker
DELETE FROM workers WHERE node = ? AND role = ? AND number = ?;

-- name: worker_rows
SELECT node, role, number, pid, started, seen, state, commanded, figures FROM workers ORDER BY role, node, number;

-- name: nodes
-- The registered nodes of a fleet: PostgreSQL has a statement of its own. One machine registers nothing.
SELECT '' AS name, 0.0, 0.0, 0.0, 0, 0, 0, 0 WHERE 0;

-- name: add_command
INSERT INTO commands (given, action, node, arguments, origin) VALUES (?, ?, ?, ?, ?) RETURNING command_id;

-- name: commands_after
SELECT command_id, given, action, node, arguments, origin FROM commands WHERE command_id > ? ORDER BY command_id;

-- name: newest_commands
SELECT command_id, given, action, node, arguments, origin FROM commands ORDER BY command_id DESC LIMIT ?;

-- name: last_command
SELECT coalesce(max(command_id), 0) FROM commands;

-- name: add_sample
INSERT INTO samples (at, figures) VALUES (?, ?) ON CONFLICT (at) DO UPDATE SET figures = excluded.figures;

-- name: remove_samples
DELETE FROM samples WHERE at < ?;

-- name: samples_since
SELECT at, figures FROM samples WHERE at > ? ORDER BY at;

-- name: last_pause
-- The newest pause or resume for a node.
SELECT action FROM commands WHERE action IN ('pause', 'resume') AND node IN ('', ?) ORDER BY command_id DESC LIMIT 1;

-- name: remove_workers
DELETE FROM workers WHERE node = ? AND role = ?;

-- name: index_figures
-- What the builder of the index reports. Rows older than the given time are of processes that are gone.
SELECT figures FROM workers WHERE role = 'index' AND seen > ?;

-- name: live_crawl_workers
SELECT count(*) FROM workers WHERE role = 'crawl' AND seen > ?;

-- name: block_host
INSERT INTO blocked_hosts (host, since) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: unblock_host
DELETE FROM blocked_hosts WHERE host = ?;

-- name: is_blocked
SELECT 1 FROM blocked_hosts WHERE host = ?;

-- name: blocked_hosts
SELECT host, since FROM blocked_hosts ORDER BY host;

-- name: refuse_queue
-- Refuse all queued URLs of a host.
UPDATE urls SET state = 2, reason = ?1, detail = ?2, due = 9e999, changed = ?3
WHERE host_id = (SELECT host_id FROM hosts WHERE host = ?4) AND state = 0;

-- name: requeue_reason
-- Requeue the URLs of a host that were refused for a reason. The URLs of a host are adjacent, one range per scheme.
UPDATE urls SET state = 0, reason = admitted, detail = '', attempts = 0, due = 0, changed = ?1
WHERE (url >= 'http://' || ?2 || '/' AND url < 'http://' || ?2 || char(59) OR url >= 'https://' || ?2 || '/' AND url < 'https://' || ?2 || char(59))
  AND state = 2 AND reason = ?3 AND host_id = (SELECT host_id FROM hosts WHERE host = ?2);

-- name: requeue_failed
-- Requeue the failed URLs of a host.
UPDATE urls SET state = 0, reason = admitted, detail = '', attempts = 0, due = 0, changed = ?1
WHERE (url >= 'http://' || ?2 || '/' AND url < 'http://' || ?2 || char(59) OR url >= 'https://' || ?2 || '/' AND url < 'https://' || ?2 || char(59))
  AND state = 3 AND host_id = (SELECT host_id FROM hosts WHERE host = ?2);

-- name: retry_queue
-- Make the queued URLs of a host due that wait for another attempt. Those of the next round keep waiting.
UPDATE urls SET attempts = 0, due = 0
WHERE host_id = (SELECT host_id FROM hosts WHERE host = ?) AND state = 0 AND due > 0 AND due < 9e999;

-- name: requeue_url
-- Requeue a URL in the given state. Earlier releases did not count visits, so a fetched URL has at least one.
UPDATE urls SET state = 0, reason = admitted, detail = '', attempts = 0, due = 0, visits = CASE WHEN ?3 = 1 AND visits < 1 THEN 1 ELSE visits END,
                changed = ?1
WHERE url = ?2 AND state = ?3;

-- name: clear_failures
-- Forget the errors of a host. Its usual delay still passes before the next request.
UPDATE hosts SET failures = 0, delay_why = '', next_fetch = CASE WHEN next_fetch > ?1 + coalesce(delay, ?2) THEN ?1 + coalesce(delay, ?2)
                                                                       ELSE next_fetch END WHERE host = ?3;

-- name: remove_seed
DELETE FROM seeds WHERE url = ?;

-- name: redirected_seeds
-- Seeds that exist only because a seed redirects to them.
SELECT seeds.url FROM seeds JOIN urls USING (url) WHERE urls.via = ? AND urls.admitted = 'seed' AND urls.redirects > 0;

-- name: remove_named_forwards
-- Remove a URL that the user named and no worker has admitted yet.
DELETE FROM inbox WHERE url = ? AND via = '';

-- name: withdraw_seed
-- Refuse a queued seed that was never fetched.
UPDATE urls SET state = 2, reason = 'seed_removed', detail = '', due = 9e999, changed = ?
WHERE url = ? AND state = 0 AND visits = 0;

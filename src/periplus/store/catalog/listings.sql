-- The statements of the lists in the console. Each reads one page of rows after a key, never with OFFSET.

-- name: hosts_by_name
SELECT host, domain, urls, queued, refused, failed, delay, delay_why, next_fetch, failures,
       (SELECT since FROM blocked_hosts AS blocked WHERE blocked.host = hosts.host) AS blocked, 0 AS sort_key
FROM hosts
WHERE host > ?1 AND instr(host, ?2) > 0
  AND CASE ?3 WHEN 'queued' THEN queued > 0 WHEN 'waiting' THEN queued > 0 AND next_fetch > ?4 WHEN 'errors' THEN failed + failures > 0
              WHEN 'blocked' THEN host IN (SELECT host FROM blocked_hosts) ELSE TRUE END
ORDER BY host LIMIT ?5;

-- name: hosts_by_figure
-- Reads every host: 1 microsecond each.
SELECT host, domain, urls, queued, refused, failed, delay, delay_why, next_fetch, failures,
       (SELECT since FROM blocked_hosts AS blocked WHERE blocked.host = listed.host) AS blocked, sort_key
FROM (SELECT *, CASE ?6 WHEN 'queued' THEN -queued WHEN 'errors' THEN -failed - failures WHEN 'urls' THEN -urls
                        ELSE -next_fetch END AS sort_key FROM hosts) AS listed
WHERE (sort_key > ?7 OR sort_key = ?7 AND host > ?1) AND instr(host, ?2) > 0
  AND CASE ?3 WHEN 'queued' THEN queued > 0 WHEN 'waiting' THEN queued > 0 AND next_fetch > ?4 WHEN 'errors' THEN failed + failures > 0
              WHEN 'blocked' THEN host IN (SELECT host FROM blocked_hosts) ELSE TRUE END
ORDER BY sort_key, host LIMIT ?5;

-- name: host
SELECT host, domain, urls, queued, refused, failed, delay, delay_why, next_fetch, failures,
       (SELECT since FROM blocked_hosts AS blocked WHERE blocked.host = hosts.host) AS blocked
FROM hosts WHERE host = ?;

-- name: blocked_since
SELECT since FROM blocked_hosts WHERE host = ?;

-- name: outcomes
-- Refused or failed URLs by reason, and by status code for HTTP errors.
SELECT reason, status, count FROM outcomes WHERE state = ? AND count > 0 ORDER BY count DESC, reason, status;

-- name: urls_with_outcome
-- Refused or failed URLs with a reason, newest first.
SELECT url, detail, attempts, changed, via FROM urls
WHERE state >= 2 AND state = ? AND reason = ? AND status = ? AND (changed, url) < (?, ?) ORDER BY changed DESC, url DESC LIMIT ?;

-- name: refused_links
SELECT reason, count FROM refused_links WHERE count > 0 ORDER BY count DESC, reason;

-- name: refusal_samples
-- Links that were refused for a reason. At most 100 of each host are stored.
SELECT host, url, detail, via FROM refusal_samples WHERE reason = ? AND (host, url) > (?, ?) ORDER BY host, url LIMIT ?;

-- name: seeds_listed
-- Seeds, newest first.
SELECT url, given, state, reason, detail FROM seeds LEFT JOIN urls USING (url)
WHERE (given, url) < (?, ?) ORDER BY given DESC, url DESC LIMIT ?;

-- name: sitemaps_listed
-- Sitemaps, newest first.
SELECT url, first_seen AS given, state, reason, detail FROM urls
WHERE admitted = 'sitemap' AND (first_seen, url) < (?, ?) ORDER BY first_seen DESC, url DESC LIMIT ?;

-- name: patterns_listed
-- URL patterns that may be suspected traps, those with the most refusals first.
SELECT host, pattern, score, fetched, wasted, saved, probe, repeated, spent FROM patterns
WHERE score >= ?1 AND (saved < ?2 OR saved = ?2 AND (host, pattern) > (?3, ?4)) ORDER BY saved DESC, host, pattern LIMIT ?5;

-- name: sample_from
-- The first sample at or after a time.
SELECT at, figures FROM samples WHERE at >= ? ORDER BY at LIMIT 1;

-- name: last_samples
SELECT at, figures FROM samples ORDER BY at DESC LIMIT ?;

-- name: states_of_first_urls
-- Number of URLs by state and reason among the first URLs of a range.
SELECT state, reason, count(*) FROM (SELECT state, reason FROM urls WHERE url >= ? AND url < ? LIMIT ?) AS first_urls GROUP BY 1, 2;

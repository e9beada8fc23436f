-- Turns segments into nodes and edges. Every block is one SELECT, in SQL that DuckDB and Spark share, and creates the
-- table or stream of its name. Read from top to bottom: each block uses those above it.
--
-- Given: pages and links (segments), redirects and canonicals (url_id, target_id, url and host of the target),
-- host_numbers (host, number, first: the node of its first page). Only content_id may be null; DuckDB leaves nulls out
-- of max_by and min_by, Spark does not, so the blocks do it.

-- name: followed
SELECT source_id, target_id, target, anchor, fetched_at FROM links WHERE NOT nofollow;

-- name: all_followed
SELECT source_id, target_id, target, anchor, fetched_at FROM links;

-- name: latest
-- The newest version of each page. Of versions of the same time, the greatest values. A join takes a quarter of the time of
-- max_by with two keys in DuckDB.
SELECT pages.url_id, any_value(url) AS url, any_value(host) AS host, max(fetched_at) AS fetched_at,
       max(content_id) FILTER (WHERE fetched_at = shown_at) AS content_id,
       max(canonical) FILTER (WHERE fetched_at = newest_at) AS canonical
FROM pages JOIN (SELECT url_id, max(fetched_at) AS newest_at,
                        max(fetched_at) FILTER (WHERE content_id IS NOT NULL) AS shown_at
                 FROM pages GROUP BY url_id) newest ON newest.url_id = pages.url_id
GROUP BY pages.url_id;

-- name: redirecting
-- URLs whose newest response is a redirect. Of redirects of the same time, that to the greatest id.
SELECT newest.url_id, newest.target_id
FROM (SELECT url_id, max_by(target_id, (seen_at, target_id)) AS target_id, max(seen_at) AS seen_at
      FROM redirects GROUP BY url_id) newest
LEFT JOIN latest ON latest.url_id = newest.url_id
WHERE newest.url_id <> newest.target_id AND (latest.url_id IS NULL OR latest.fetched_at < newest.seen_at);

-- name: next_hop
-- Follow every chain of redirects twice as far as before.
SELECT f.url_id, coalesce(further.target_id, f.target_id) AS target_id
FROM merges f LEFT JOIN merges further ON further.url_id = f.target_id;

-- name: chain_ends
-- Chains that have an end. The members of a loop, and chains into it, are not merged.
SELECT f.url_id, f.target_id FROM merges f LEFT JOIN merges further ON further.url_id = f.target_id
WHERE further.url_id IS NULL;

-- name: standing
-- Pages whose URL does not redirect.
SELECT latest.url_id, url, host, fetched_at, content_id, canonical
FROM latest LEFT JOIN moved ON moved.url_id = latest.url_id WHERE moved.url_id IS NULL;

-- name: canonical_links
-- Pages with rel=canonical to another URL.
SELECT CAST(url_id AS BINARY) AS url_id, host, canonical FROM standing WHERE canonical <> '' AND canonical <> url;

-- name: preferring
-- Canonical URLs after redirects. A canonical URL that redirects back to its page is ignored.
SELECT c.url_id, coalesce(moved.target_id, c.target_id) AS target_id
FROM canonicals c LEFT JOIN moved ON moved.url_id = c.target_id
WHERE c.url_id <> coalesce(moved.target_id, c.target_id);

-- name: renamed
SELECT moved.url_id, coalesce(preferred.target_id, moved.target_id) AS target_id
FROM moved LEFT JOIN preferred ON preferred.url_id = moved.target_id
UNION ALL
SELECT url_id, target_id FROM preferred;

-- name: own
-- Pages that are neither redirected nor have another canonical URL.
SELECT standing.url_id, url, host, fetched_at, content_id
FROM standing LEFT JOIN renamed ON renamed.url_id = standing.url_id WHERE renamed.url_id IS NULL;

-- name: copies
-- Pages of one host with the same bytes are merged into the smallest URL, which is "/" before "/index.html".
SELECT own.url_id, kept.url_id AS target_id
FROM own JOIN (SELECT host, content_id, min_by(url_id, url) AS url_id FROM own
               WHERE content_id IS NOT NULL GROUP BY host, content_id HAVING count(*) > 1) kept
ON kept.host = own.host AND kept.content_id = own.content_id
WHERE own.url_id <> kept.url_id;

-- name: merged
-- Every URL that is merged into another, with that other URL.
SELECT renamed.url_id, coalesce(copies.target_id, renamed.target_id) AS target_id
FROM renamed LEFT JOIN copies ON copies.url_id = renamed.target_id
UNION ALL
SELECT url_id, target_id FROM copies;

-- name: voting
-- The page whose links count for a node: its own, or else the first of those merged into it.
SELECT own.url_id AS source_id, own.fetched_at, own.url_id, own.content_id
FROM own LEFT JOIN copies ON copies.url_id = own.url_id WHERE copies.url_id IS NULL
UNION ALL
SELECT min_by(s.url_id, s.url), min_by(s.fetched_at, s.url), merged.target_id,
       min_by(s.content_id, s.url) FILTER (WHERE s.content_id IS NOT NULL)
FROM merged JOIN standing s ON s.url_id = merged.url_id LEFT JOIN own ON own.url_id = merged.target_id
WHERE own.url_id IS NULL
GROUP BY merged.target_id;

-- name: merge_targets
-- URLs that others were merged into, and that were not fetched themselves.
SELECT targets.url_id, any_value(targets.url) AS url, any_value(targets.host) AS host
FROM (SELECT target_id AS url_id, url, host FROM redirects
      UNION ALL SELECT target_id AS url_id, url, host FROM canonicals) targets
LEFT JOIN own ON own.url_id = targets.url_id LEFT JOIN merged ON merged.url_id = targets.url_id
WHERE own.url_id IS NULL AND merged.url_id IS NULL
GROUP BY targets.url_id;

-- name: crawled_ids
SELECT url_id FROM own UNION ALL SELECT url_id FROM merged UNION ALL SELECT url_id FROM merge_targets;

-- name: linked_only
-- URLs known from links only.
SELECT target_id AS url_id, any_value(target) AS url
FROM followed LEFT JOIN crawled_ids ON crawled_ids.url_id = followed.target_id WHERE crawled_ids.url_id IS NULL
GROUP BY target_id;

-- name: known
-- Every URL that is not merged into another, crawled or not. Cutting the host out of each URL once is faster than
-- reading the host of every link.
SELECT own.url_id, url, host FROM own LEFT JOIN copies ON copies.url_id = own.url_id WHERE copies.url_id IS NULL
UNION ALL SELECT url_id, url, host FROM merge_targets
UNION ALL
SELECT url_id, url, CASE WHEN url LIKE 'http://[%' OR url LIKE 'https://[%'
                         THEN concat(split_part(split_part(url, '/', 3), ']', 1), ']')
                         ELSE split_part(split_part(url, '/', 3), ':', 1) END AS host
FROM linked_only;

-- name: hosts
SELECT host, count(*) AS pages FROM known GROUP BY host;

-- name: nodes
-- Adjacent numbers are adjacent URLs, whatever their scheme. This order saves half of the cache misses of PageRank.
-- Each host is numbered by itself: a single order of all URLs would be the work of one task of Spark.
SELECT url_id, url, number AS host,
       CAST(first + row_number() OVER (PARTITION BY number ORDER BY substr(url, instr(url, '//')), url) - 1 AS INTEGER) AS node
FROM known JOIN host_numbers ON host_numbers.host = known.host;

-- name: addresses
SELECT url_id, node FROM nodes
UNION ALL
SELECT merged.url_id, node FROM merged JOIN nodes ON nodes.url_id = merged.target_id;

-- name: voters
SELECT source_id, fetched_at, node, host, content_id FROM voting JOIN nodes ON nodes.url_id = voting.url_id;

-- name: edges
SELECT voters.node AS source, addresses.node AS target
FROM followed
JOIN voters ON voters.source_id = followed.source_id AND voters.fetched_at = followed.fetched_at
JOIN addresses ON addresses.url_id = followed.target_id;

-- name: crawled_nodes
SELECT node FROM voters;

-- name: documents
-- Nodes of different hosts with the same bytes.
SELECT node, CAST(dense_rank() OVER (ORDER BY content_id) AS INTEGER) AS document
FROM voters JOIN (SELECT content_id AS shared FROM voters WHERE content_id IS NOT NULL
                  GROUP BY content_id HAVING count(*) > 1) s ON s.shared = voters.content_id
ORDER BY document, node;

-- name: node_hosts
SELECT node, host FROM nodes;

-- name: node_ids
SELECT node, CAST(url_id AS BINARY) AS url_id FROM nodes;

-- name: node_urls
SELECT node, url FROM nodes ORDER BY node;

-- name: sorted_addresses
SELECT CAST(url_id AS BINARY) AS url_id, node FROM addresses ORDER BY url_id;

-- What do others call a page? Like build.sql, after it.

-- name: speakers
-- Who speaks in a link: the host of its page, or for a document that several hosts show, the first of them.
SELECT source_id, fetched_at, node, coalesce(first_host, host) AS host
FROM voters LEFT JOIN (SELECT content_id AS shown, min(host) AS first_host FROM voters WHERE content_id IS NOT NULL
                       GROUP BY content_id HAVING count(*) > 1) shared ON shared.shown = voters.content_id;

-- name: calls
-- Each host speaks once: louder when more of its links say the same, but only as the logarithm. In thousandths, because
-- sums of integers do not depend on their order.
SELECT addresses.node, followed.anchor, CAST(round(1000 * ln(1 + count(*))) AS BIGINT) AS weight
FROM followed
JOIN speakers ON speakers.source_id = followed.source_id AND speakers.fetched_at = followed.fetched_at
JOIN addresses ON addresses.url_id = followed.target_id
WHERE followed.anchor <> '' AND speakers.node <> addresses.node
GROUP BY addresses.node, speakers.host, followed.anchor;

-- name: names
SELECT node, min(substr(anchor, 1, {chars})) AS anchor, lower(substr(anchor, 1, {chars})) AS said,
       CAST(sum(weight) AS BIGINT) AS weight
FROM calls GROUP BY node, lower(substr(anchor, 1, {chars}));

-- name: weighed
-- Words that fit every page, and the bare address, say a tenth.
SELECT node, anchor,
       CASE WHEN phrases.phrase IS NOT NULL OR said LIKE 'http://%' OR said LIKE 'https://%' OR said LIKE 'www.%'
            THEN CAST(floor(weight / 10) AS BIGINT) ELSE weight END AS weight
FROM names LEFT JOIN phrases ON phrases.phrase = names.said;

-- name: named
-- The identities by which a page is asked for: its own, and that of the page that stands for it when it was not fetched.
SELECT url_id, node FROM nodes
UNION ALL
SELECT source_id AS url_id, voters.node FROM voters JOIN nodes ON nodes.node = voters.node WHERE source_id <> url_id;

-- name: anchors
SELECT CAST(url_id AS BINARY) AS url_id, best.node, anchor, weight
FROM (SELECT node, anchor, weight, row_number() OVER (PARTITION BY node ORDER BY weight DESC, anchor) AS place
      FROM weighed) best
JOIN named ON named.node = best.node
WHERE place <= {texts}
ORDER BY url_id, place;

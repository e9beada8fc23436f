-- What do others call a page? Like build.sql, after it.

-- name: calls
-- Each host speaks once: louder when more of its links say the same, but only as the logarithm. In thousandths, because
-- sums of integers do not depend on their order.
SELECT addresses.node, followed.anchor, CAST(round(1000 * ln(1 + count(*))) AS BIGINT) AS weight
FROM followed
JOIN voters ON voters.source_id = followed.source_id AND voters.fetched_at = followed.fetched_at
JOIN addresses ON addresses.url_id = followed.target_id
WHERE followed.anchor <> '' AND voters.node <> addresses.node
GROUP BY addresses.node, voters.host, followed.anchor;

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

-- name: anchors
SELECT CAST(url_id AS BINARY) AS url_id, best.node, anchor, weight
FROM (SELECT node, anchor, weight, row_number() OVER (PARTITION BY node ORDER BY weight DESC, anchor) AS place
      FROM weighed) best
JOIN nodes ON nodes.node = best.node
WHERE place <= {texts}
ORDER BY url_id, place;

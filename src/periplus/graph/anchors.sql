-- Aggregates anchor texts from the tables of build.sql.

-- name: anchor_sources
-- The host that an anchor text counts for: that of its page, or the first host of a document that several hosts have.
SELECT source_id, fetched_at, node, coalesce(first_host, host) AS host
FROM voters LEFT JOIN (SELECT content_id AS shown, min(host) AS first_host FROM voters WHERE content_id IS NOT NULL
                       GROUP BY content_id HAVING count(*) > 1) shared ON shared.shown = voters.content_id;

-- name: anchor_counts
-- Each host counts once per text, with the logarithm of the number of its links as the weight. In thousandths, because
-- sums of integers do not depend on their order.
SELECT addresses.node, followed.anchor, CAST(round(1000 * ln(1 + count(*))) AS BIGINT) AS weight
FROM followed
JOIN anchor_sources ON anchor_sources.source_id = followed.source_id AND anchor_sources.fetched_at = followed.fetched_at
JOIN addresses ON addresses.url_id = followed.target_id
WHERE followed.anchor <> '' AND anchor_sources.node <> addresses.node
GROUP BY addresses.node, anchor_sources.host, followed.anchor;

-- name: anchor_texts
-- The weights of all hosts, summed over spellings that differ in case only. The two letters that are translated first
-- are those whose small letter depends on the text around them in Spark, but not in DuckDB.
SELECT node, min(substr(anchor, 1, {chars})) AS anchor, lower(translate(substr(anchor, 1, {chars}), 'Σİ', 'σi')) AS lowered,
       CAST(sum(weight) AS BIGINT) AS weight
FROM anchor_counts GROUP BY node, lower(translate(substr(anchor, 1, {chars}), 'Σİ', 'σi'));

-- name: weighted_anchors
-- Texts that fit every page, and bare URLs, count a tenth.
SELECT node, anchor,
       CASE WHEN phrases.phrase IS NOT NULL OR lowered LIKE 'http://%' OR lowered LIKE 'https://%' OR lowered LIKE 'www.%'
            THEN CAST(floor(weight / 10) AS BIGINT) ELSE weight END AS weight
FROM anchor_texts LEFT JOIN phrases ON phrases.phrase = anchor_texts.lowered;

-- name: target_ids
-- The URL ids of a page: its own, and that of the page that represents it when it was not fetched.
SELECT url_id, node FROM nodes
UNION ALL
SELECT source_id AS url_id, voters.node FROM voters JOIN nodes ON nodes.node = voters.node WHERE source_id <> url_id;

-- name: anchors
SELECT CAST(url_id AS BINARY) AS url_id, best.node, anchor, weight
FROM (SELECT node, anchor, weight, row_number() OVER (PARTITION BY node ORDER BY weight DESC, anchor) AS place
      FROM weighted_anchors) best
JOIN target_ids ON target_ids.node = best.node
WHERE place <= {texts}
ORDER BY url_id, place;

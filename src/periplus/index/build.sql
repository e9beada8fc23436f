-- How segments become documents. Plain SQL, read by DuckDB; the same text is to run on Spark.

-- name: versions
-- The newest version of every page that may be indexed: only its keys, so that it fits in memory.
CREATE TEMP TABLE versions AS
SELECT url_id, max(fetched_at) AS fetched_at FROM pages GROUP BY url_id;

-- name: candidates
CREATE TEMP TABLE candidates AS
SELECT pages.url_id, pages.url, pages.content_id, pages.fetched_at
FROM pages JOIN versions ON pages.url_id = versions.url_id AND pages.fetched_at = versions.fetched_at
WHERE NOT pages.noindex;

-- name: documents
-- One document for every content, under its best URL: the highest rank, then the shortest, then the first in order.
CREATE TEMP TABLE documents AS
SELECT row_number() OVER (ORDER BY url) - 1 AS number, url_id, url, fetched_at, rank, content_id
FROM (
    SELECT candidates.url_id, candidates.url, candidates.fetched_at, candidates.content_id, ranks.rank,
           row_number() OVER (PARTITION BY candidates.content_id
                              ORDER BY ranks.rank DESC, length(candidates.url), candidates.url) AS place
    FROM candidates JOIN ranks ON candidates.url_id = ranks.url_id
) AS placed
WHERE place = 1;

-- name: copies
-- The other URLs of each document, a few of them, best first.
CREATE TEMP TABLE copies AS
SELECT documents.number, candidates.url
FROM candidates JOIN documents ON candidates.content_id = documents.content_id AND candidates.url_id <> documents.url_id;

-- name: anchors
-- What others call a page, as one text.
CREATE TEMP VIEW anchors AS
SELECT target_id, array_to_string(anchors, '. ') AS anchors FROM anchor_lists;

-- name: rows
-- Everything a document needs, in the order of its number.
SELECT documents.number, documents.rank, pages.url_id, pages.url, pages.host, pages.fetched_at, pages.mime, pages.title,
       pages.description, pages.keywords, pages.headings, pages.text, pages.language, pages.archive, pages.offset, pages.length,
       coalesce(anchors.anchors, '') AS anchors, coalesce(copies.urls, []) AS copies
FROM documents
JOIN pages ON pages.url_id = documents.url_id AND pages.fetched_at = documents.fetched_at
LEFT JOIN anchors ON anchors.target_id = documents.url_id
LEFT JOIN (SELECT number, list(url ORDER BY url) AS urls FROM copies GROUP BY number) AS copies
       ON copies.number = documents.number
ORDER BY documents.number;

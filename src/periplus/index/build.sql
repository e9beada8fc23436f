-- How segments become documents. Plain SQL, read by DuckDB; the same text is to run on Spark.
--
-- Given: pages (segments, with the name of the file as `segment` and the row in it as `place`), ranks (url_id, rank),
-- anchors (target_id, anchors), vanished (url_id, visited: when a page was found gone, moved or forbidden). The texts of
-- pages are never touched here, so that everything fits in memory.

-- name: versions
CREATE TEMP TABLE versions AS
SELECT url_id, max(fetched_at) AS fetched_at FROM pages GROUP BY url_id;

-- name: candidates
-- The newest version of every page that may be indexed.
CREATE TEMP TABLE candidates AS
SELECT pages.url_id, pages.url, pages.host, pages.mime, pages.content_id, pages.segment, pages.place
FROM pages JOIN versions ON pages.url_id = versions.url_id AND pages.fetched_at = versions.fetched_at
LEFT JOIN vanished ON pages.url_id = vanished.url_id AND pages.fetched_at <= vanished.visited
WHERE NOT pages.noindex AND vanished.url_id IS NULL;

-- name: documents
-- One document for every content, under its best URL: the highest rank, then one that others link to by name, then the
-- shortest, then the first in order. They are numbered as they lie in the segments.
CREATE TEMP TABLE documents AS
SELECT row_number() OVER (ORDER BY segment, place) - 1 AS number, url_id, host, mime, content_id, rank, segment, place
FROM (
    SELECT candidates.url_id, candidates.host, candidates.mime, candidates.content_id, candidates.segment,
           candidates.place, ranks.rank,
           row_number() OVER (PARTITION BY candidates.content_id
                              ORDER BY ranks.rank DESC, anchors.target_id IS NULL, length(candidates.url),
                                       candidates.url, candidates.segment, candidates.place) AS preference
    FROM candidates JOIN ranks ON candidates.url_id = ranks.url_id
    LEFT JOIN anchors ON anchors.target_id = candidates.url_id
) AS preferred
WHERE preference = 1;

-- name: copies
-- The other URLs of each document.
CREATE TEMP TABLE copies AS
SELECT DISTINCT documents.number, candidates.url
FROM candidates JOIN documents ON candidates.content_id = documents.content_id AND candidates.url_id <> documents.url_id;

-- name: samples
-- Some pages of every site that has enough of them, the largest sites first. Which ones depends on nothing but their
-- content, never on the order in which they were crawled. Given: how many are enough, how many of a site, how many.
SELECT host, segment, place
FROM (
    SELECT host, segment, place, count(*) OVER (PARTITION BY host) AS pages,
           row_number() OVER (PARTITION BY host ORDER BY content_id) AS turn
    FROM documents WHERE mime IN ('text/html', 'application/xhtml+xml')
) AS turns
WHERE pages >= ? AND turn <= ?
ORDER BY pages DESC, host, turn
LIMIT ?;

-- name: rows
-- What the segments do not say about a document, in the order of its number.
SELECT documents.number, documents.rank, documents.segment, documents.place, coalesce(anchors.anchors, []) AS anchors,
       coalesce(copies.urls, []) AS copies
FROM documents
LEFT JOIN anchors ON anchors.target_id = documents.url_id
LEFT JOIN (SELECT number, list(url ORDER BY url) AS urls FROM copies GROUP BY number) AS copies
       ON copies.number = documents.number
ORDER BY documents.number;

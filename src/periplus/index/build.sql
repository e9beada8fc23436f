-- How segments become documents. Plain SQL, read by DuckDB; the same text is to run on Spark.
--
-- Given: pages (segments, with the name of the file as `segment` and the row in it as `place`), ranks (url_id, rank),
-- anchors (target_id, anchors), vanished (url_id, visited, reason: when a page was found gone, moved or refused, and why),
-- refused_hosts (host, reason) and refused_urls (url_id, reason): what the scope refuses, imported (url_id): pages that
-- are shown although the scope refuses them. The texts of pages are never touched here, so that everything fits in memory.

-- name: versions
CREATE TEMP TABLE versions AS
SELECT url_id, max(fetched_at) AS fetched_at FROM pages GROUP BY url_id;

-- name: hosts
-- Every host that has pages.
SELECT DISTINCT host FROM pages;

-- name: newest
-- The addresses of all pages whose host is not refused.
SELECT DISTINCT url, host FROM pages WHERE host NOT IN (SELECT host FROM refused_hosts);

-- name: left_out
-- Pages whose newest version is not shown, each with the first reason.
CREATE TEMP TABLE left_out AS
SELECT DISTINCT pages.url_id,
       coalesce(vanished.reason, refused_hosts.reason, refused_urls.reason, 'noindex') AS reason
FROM pages JOIN versions ON pages.url_id = versions.url_id AND pages.fetched_at = versions.fetched_at
LEFT JOIN vanished ON pages.url_id = vanished.url_id AND pages.fetched_at <= vanished.visited
LEFT JOIN imported ON pages.url_id = imported.url_id
LEFT JOIN refused_hosts ON pages.host = refused_hosts.host AND imported.url_id IS NULL
LEFT JOIN refused_urls ON pages.url_id = refused_urls.url_id AND imported.url_id IS NULL
WHERE pages.noindex OR vanished.url_id IS NOT NULL OR refused_hosts.host IS NOT NULL OR refused_urls.url_id IS NOT NULL;

-- name: count_left_out
SELECT reason, count(DISTINCT url_id) FROM left_out GROUP BY reason ORDER BY 2 DESC, reason;

-- name: candidates
-- The newest version of every page that may be indexed.
CREATE TEMP TABLE candidates AS
SELECT pages.url_id, pages.url, pages.host, pages.mime, pages.content_id, pages.title, pages.signature,
       pages.quality.length AS length,
       pages.quality.length + pages.quality.share + pages.quality.markup + pages.quality.links + pages.quality.language
       + pages.quality.lines + pages.quality.title AS quality, pages.segment, pages.place
FROM pages JOIN versions ON pages.url_id = versions.url_id AND pages.fetched_at = versions.fetched_at
LEFT JOIN left_out ON pages.url_id = left_out.url_id
WHERE left_out.url_id IS NULL;

-- name: originals
-- One page for every content, under its best URL: the highest rank, then one that others link to by name, then the
-- shortest, then the first in order. By the same order the best of all pages stands first.
CREATE TEMP TABLE originals AS
SELECT row_number() OVER (ORDER BY rank DESC, is_unnamed, length(url), url, segment, place) AS standing, *
FROM (
    SELECT candidates.*, ranks.rank, anchors.target_id IS NULL AS is_unnamed,
           row_number() OVER (PARTITION BY candidates.content_id
                              ORDER BY ranks.rank DESC, anchors.target_id IS NULL, length(candidates.url),
                                       candidates.url, candidates.segment, candidates.place) AS preference
    FROM candidates JOIN ranks ON candidates.url_id = ranks.url_id
    LEFT JOIN anchors ON anchors.target_id = candidates.url_id
) AS preferred
WHERE preference = 1;

-- name: neighbours
-- Pages that nearly repeat a better one. They have the same title and enough text (0.2: a thousand characters), and
-- their signatures differ in three bits at most: then one of the four quarters is the same, so each page is compared
-- with the best page of its four quarters only.
CREATE TEMP TABLE neighbours AS
SELECT copy, original, bits
FROM (
    SELECT standing AS copy, best AS original, bit_count(xor(signature, best_signature)) AS bits,
           row_number() OVER (PARTITION BY standing ORDER BY best) AS choice
    FROM (
        SELECT standing, signature,
               first_value(standing) OVER quarter_mates AS best, first_value(signature) OVER quarter_mates AS best_signature
        FROM originals, (VALUES (0), (16), (32), (48)) AS quarters (shift)
        WHERE title <> '' AND signature <> 0 AND length >= 0.2
        WINDOW quarter_mates AS (PARTITION BY title, shift, (signature >> shift) & 65535 ORDER BY standing)
    ) AS mates
    WHERE best < standing AND bit_count(xor(signature, best_signature)) <= 3
) AS found
WHERE choice = 1;

-- name: folded
-- Those whose better page is no copy itself: what is nearly the same as a copy is not nearly the same as its original.
CREATE TEMP TABLE folded AS
SELECT neighbours.copy, neighbours.original, neighbours.bits FROM neighbours
LEFT JOIN neighbours AS other ON other.copy = neighbours.original
WHERE other.copy IS NULL;

-- name: documents
-- The pages that are left, numbered as they lie in the segments.
CREATE TEMP TABLE documents AS
SELECT row_number() OVER (ORDER BY segment, place) - 1 AS number, standing, url_id, host, mime, content_id, rank,
       quality, segment, place
FROM originals LEFT JOIN folded ON folded.copy = originals.standing
WHERE folded.copy IS NULL;

-- name: copies
-- The other URLs of each document: those of the same content, and those of what is folded into it.
CREATE TEMP TABLE copies AS
SELECT DISTINCT documents.number, candidates.url
FROM originals
LEFT JOIN folded ON folded.copy = originals.standing
JOIN documents ON documents.standing = coalesce(folded.original, originals.standing)
JOIN candidates ON candidates.content_id = originals.content_id AND candidates.url_id <> documents.url_id;

-- name: near_copies
-- Who nearly repeats whom, for those who ask about one of the pages.
SELECT copy.url, original.url AS original, folded.bits
FROM folded JOIN originals AS copy ON copy.standing = folded.copy
JOIN originals AS original ON original.standing = folded.original
ORDER BY copy.url;

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
-- The quality of a page counts three times, that of its host once: the mean of its pages, where copies count nothing.
SELECT documents.number, documents.rank,
       coalesce(0.75 * documents.quality + 0.25 * hosts.quality, 0.5) AS quality, documents.segment, documents.place, coalesce(anchors.anchors, []) AS anchors,
       coalesce(copies.urls, []) AS copies
FROM documents
LEFT JOIN anchors ON anchors.target_id = documents.url_id
LEFT JOIN (SELECT number, list(url ORDER BY url) AS urls FROM copies GROUP BY number) AS copies
       ON copies.number = documents.number
LEFT JOIN (SELECT candidates.host, sum(documents.quality) / count(*) AS quality
           FROM candidates LEFT JOIN documents ON documents.url_id = candidates.url_id GROUP BY candidates.host) AS hosts
       ON hosts.host = documents.host
ORDER BY documents.number;

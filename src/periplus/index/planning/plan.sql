-- Turns segments into documents. Plain SQL for DuckDB that should run on Spark unchanged.
--
-- Given: pages (segments, with the file name as `segment` and the row number as `place`), ranks (url_id, rank),
-- anchors (target_id, anchors), vanished (url_id, visited, reason: pages found gone, redirected or refused, and when),
-- refused_hosts (host, reason) and refused_urls (url_id, reason): what the scope refuses, imported (url_id): pages that
-- are indexed although the scope refuses them, known_templates (host), known_sites (host) and known_furniture (host): hosts that were
-- compared by an earlier build, styles (host, style): a hash of what the pages of a host repeat, previous (number, url_id,
-- fingerprint, links): the documents of the generation that is continued. The texts of pages are not read here, so that
-- everything fits in memory.

-- name: versions
CREATE TEMP TABLE versions AS
SELECT url_id, max(fetched_at) AS fetched_at FROM pages GROUP BY url_id;

-- name: hosts
-- Every host with pages.
SELECT DISTINCT host FROM pages;

-- name: newest
-- The URLs of all pages whose host is not refused.
SELECT DISTINCT url, host FROM pages WHERE host NOT IN (SELECT host FROM refused_hosts);

-- name: left_out
-- Pages whose newest version is not indexed, each with the first reason.
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
SELECT pages.url_id, pages.url, pages.host, pages.mime, pages.content_id, pages.title, pages.language,
       pages.signature,
       pages.quality.length AS length,
       pages.quality.length + pages.quality.share + pages.quality.markup + pages.quality.links + pages.quality.language
       + pages.quality.lines + pages.quality.title AS quality, pages.segment, pages.place,
       hash(pages.fetched_at, pages.archive, pages."offset", pages."length",
            regexp_extract(pages.segment, '-r([0-9]+)[.]parquet$', 1)) AS version
FROM pages JOIN versions ON pages.url_id = versions.url_id AND pages.fetched_at = versions.fetched_at
LEFT JOIN left_out ON pages.url_id = left_out.url_id
WHERE left_out.url_id IS NULL;

-- name: listed
-- The pages that feeds list, with the first date that a feed gave.
SELECT entry.url AS url, min(entry.published) AS published
FROM (SELECT unnest(listed) AS entry FROM pages WHERE len(listed) > 0) AS entries
GROUP BY entry.url;

-- name: feed_dates
-- The dates that feeds give to candidates. Given: listed_pages (url_id, node, published), and candidate_nodes (url_id,
-- node). A page has the same node as the URLs that redirect to it.
CREATE TEMP TABLE feed_dates AS
SELECT url_id, min(published) AS published
FROM (
    SELECT candidates.url_id, listed_pages.published
    FROM candidates JOIN listed_pages ON listed_pages.url_id = candidates.url_id
    UNION ALL
    SELECT candidate_nodes.url_id, listed_pages.published
    FROM candidate_nodes JOIN listed_pages ON listed_pages.node = candidate_nodes.node
) AS dated
GROUP BY url_id;

-- name: originals
-- One page per content, with its best URL: the highest rank, then one with anchor texts, then the shortest, then the
-- first alphabetically. `ordinal` numbers all pages in the same order, best first.
CREATE TEMP TABLE originals AS
SELECT row_number() OVER (ORDER BY rank DESC, is_unnamed, length(url), url, segment, place) AS ordinal, *
FROM (
    SELECT candidates.*, ranks.rank, ranks.prior, anchors.target_id IS NULL AS is_unnamed,
           row_number() OVER (PARTITION BY candidates.content_id
                              ORDER BY ranks.rank DESC, anchors.target_id IS NULL, length(candidates.url),
                                       candidates.url, candidates.segment, candidates.place) AS preference
    FROM candidates JOIN ranks ON candidates.url_id = ranks.url_id
    LEFT JOIN anchors ON anchors.target_id = candidates.url_id
) AS preferred
WHERE preference = 1;

-- name: near_duplicates
-- Near-duplicates of a better page: the same title, enough text (0.2: a thousand characters), and signatures that differ
-- in at most three bits. Then at least one of the four quarters is equal, so each page is compared only with the best page
-- of each of its four quarters.
CREATE TEMP TABLE near_duplicates AS
SELECT copy, original, bits
FROM (
    SELECT ordinal AS copy, best AS original, bit_count(xor(signature, best_signature)) AS bits,
           row_number() OVER (PARTITION BY ordinal ORDER BY best) AS choice
    FROM (
        SELECT ordinal, signature,
               first_value(ordinal) OVER same_quarter AS best, first_value(signature) OVER same_quarter AS best_signature
        FROM originals, (VALUES (0), (16), (32), (48)) AS quarters (shift)
        WHERE title <> '' AND signature <> 0 AND length >= 0.2
        WINDOW same_quarter AS (PARTITION BY title, shift, (signature >> shift) & 65535 ORDER BY ordinal)
    ) AS compared
    WHERE best < ordinal AND bit_count(xor(signature, best_signature)) <= 3
) AS found
WHERE choice = 1;

-- name: merged
-- Near-duplicates whose original is not a near-duplicate itself, because the relation is not transitive.
CREATE TEMP TABLE merged AS
SELECT near_duplicates.copy, near_duplicates.original, near_duplicates.bits FROM near_duplicates
LEFT JOIN near_duplicates AS other ON other.copy = near_duplicates.original
WHERE other.copy IS NULL;

-- name: documents
-- The remaining pages.
CREATE TEMP TABLE documents AS
SELECT ordinal, url_id, host, mime, language, content_id, rank, prior, quality, segment, place, version
FROM originals LEFT JOIN merged ON merged.copy = originals.ordinal
WHERE merged.copy IS NULL;

-- name: languages
SELECT language, count(*) FROM documents GROUP BY language;

-- name: copies
-- The other URLs of each document: those with the same content, and those of near-duplicates merged into it.
CREATE TEMP TABLE copies AS
SELECT ordinal, list(url ORDER BY url) AS urls
FROM (
    SELECT DISTINCT documents.ordinal, candidates.url
    FROM originals
    LEFT JOIN merged ON merged.copy = originals.ordinal
    JOIN documents ON documents.ordinal = coalesce(merged.original, originals.ordinal)
    JOIN candidates ON candidates.content_id = originals.content_id AND candidates.url_id <> documents.url_id
) AS other_urls
GROUP BY ordinal;

-- name: near_copies
-- Near-duplicates with their originals, for `inspect url`.
SELECT copy.url, original.url AS original, merged.bits
FROM merged JOIN originals AS copy ON copy.ordinal = merged.copy
JOIN originals AS original ON original.ordinal = merged.original
ORDER BY copy.url;

-- name: samples
-- Sample pages of every host that has enough pages, largest hosts first. The choice depends on the content only, not on
-- the order of crawling. Parameters: minimum pages of a host, samples per host, samples in total.
SELECT host, segment, place
FROM (
    SELECT host, segment, place, count(*) OVER (PARTITION BY host) AS pages,
           row_number() OVER (PARTITION BY host ORDER BY content_id) AS turn
    FROM documents
    WHERE mime IN ('text/html', 'application/xhtml+xml') AND host NOT IN (SELECT host FROM known_templates)
) AS turns
WHERE pages >= ? AND turn <= ?
ORDER BY pages DESC, host, turn
LIMIT ?;

-- name: titles
-- Titles of some documents of every host that has enough, largest hosts first, chosen like `samples`.
-- Parameters: minimum pages of a host, titles per host, titles in total.
SELECT host, title
FROM (
    SELECT originals.host, originals.title, count(*) OVER (PARTITION BY originals.host) AS pages,
           row_number() OVER (PARTITION BY originals.host ORDER BY originals.content_id) AS turn
    FROM documents JOIN originals ON originals.ordinal = documents.ordinal
    WHERE originals.title <> '' AND originals.host NOT IN (SELECT host FROM known_sites)
) AS turns
WHERE pages >= ? AND turn <= ?
ORDER BY pages DESC, host, turn
LIMIT ?;

-- name: media_hosts
-- The hosts whose images and videos are compared. Parameter: pages that a host must exceed.
CREATE OR REPLACE TEMP TABLE media_hosts AS
SELECT host, count(*) AS pages FROM documents
WHERE host NOT IN (SELECT host FROM known_furniture)
GROUP BY host HAVING count(*) > ?;

-- name: furniture
-- The images and videos that many pages of a host show. Parameters: the pages, and the share of the pages of the host,
-- that must be exceeded.
SELECT host, url
FROM (
    SELECT DISTINCT documents.ordinal, documents.host, unnest(pages.images).url AS url
    FROM documents JOIN pages ON pages.segment = documents.segment AND pages.place = documents.place
    WHERE documents.host IN (SELECT host FROM media_hosts)
    UNION ALL
    SELECT DISTINCT documents.ordinal, documents.host, unnest(pages.videos).url AS url
    FROM documents JOIN pages ON pages.segment = documents.segment AND pages.place = documents.place
    WHERE documents.host IN (SELECT host FROM media_hosts)
) AS shown JOIN media_hosts USING (host)
GROUP BY host, url, pages HAVING count(*) > greatest(?, ? * pages)
ORDER BY host, url;

-- name: links
-- The number of links of every page in a part of a segment, and the first of them. Given: links_part (source_id,
-- fetched_at, target, place). `arg_min` with a number is DuckDB's own: it takes a third of the time of a window.
-- Pages that are not new documents are grouped, too: to look for them among all documents takes longer, for every part.
-- Parameter: links per page.
SELECT source_id, fetched_at, count(*) AS link_count, arg_min(target, place, ?) AS links
FROM links_part
GROUP BY source_id, fetched_at;

-- name: fingerprints
-- Hashes of everything that a document is made of: `links` of what the links to it say, without the order of the anchor
-- texts, and `fingerprint` of the rest.
CREATE OR REPLACE TEMP TABLE fingerprints AS
SELECT documents.ordinal,
       hash(documents.version, documents.content_id, coalesce(styles.style, 0), coalesce(copies.urls, []),
            feed_dates.published) AS fingerprint,
       hash(documents.prior, list_sort(coalesce(anchors.anchors, []))) AS links
FROM documents
LEFT JOIN feed_dates ON feed_dates.url_id = documents.url_id
LEFT JOIN styles ON styles.host = documents.host
LEFT JOIN anchors ON anchors.target_id = documents.url_id
LEFT JOIN copies ON copies.ordinal = documents.ordinal;

-- name: numbered
-- The documents with their numbers: unchanged ones keep theirs, the others are numbered in the order of the segments.
-- Parameters: the first new number, and whether documents with other links to them are unchanged, which therefore keep
-- the old hash of those.
CREATE OR REPLACE TEMP TABLE numbered AS
SELECT documents.ordinal, documents.url_id, fingerprints.fingerprint, coalesce(previous.links, fingerprints.links) AS links,
       previous.number IS NULL AS is_new,
       coalesce(previous.number, ? - 1 + row_number() OVER (PARTITION BY previous.number IS NULL
                                                            ORDER BY documents.segment, documents.place)) AS number
FROM documents JOIN fingerprints ON fingerprints.ordinal = documents.ordinal
LEFT JOIN previous ON previous.url_id = documents.url_id AND previous.fingerprint = fingerprints.fingerprint
                  AND (previous.links = fingerprints.links OR ?);

-- name: count_new
SELECT count(*) FILTER (WHERE is_new) FROM numbered;

-- name: removed
-- The documents of the previous generation that are gone or changed.
SELECT previous.number FROM previous LEFT JOIN numbered ON numbered.number = previous.number
WHERE numbered.number IS NULL ORDER BY previous.number;

-- name: numbers
-- The documents of the generation, for the next update.
SELECT number, url_id, fingerprint, links FROM numbered ORDER BY number;

-- name: qualities
-- The quality of every document: three quarters that of the page and one quarter that of its host, which is the mean
-- over its pages, where duplicates count 0.
CREATE TEMP TABLE qualities AS
SELECT documents.ordinal, coalesce(0.75 * documents.quality + 0.25 * hosts.quality, 0.5) AS quality
FROM documents
LEFT JOIN (SELECT candidates.host, sum(documents.quality) / count(*) AS quality
           FROM candidates LEFT JOIN documents ON documents.url_id = candidates.url_id GROUP BY candidates.host) AS hosts
       ON hosts.host = documents.host;

-- name: kept
-- The numbers of the documents that stay as they are.
SELECT numbered.number, documents.rank, qualities.quality, documents.host
FROM numbered JOIN documents ON documents.ordinal = numbered.ordinal
JOIN qualities ON qualities.ordinal = numbered.ordinal
WHERE NOT numbered.is_new;

-- name: rows
-- The columns of a new document that are not in the segments, in the order of its number.
SELECT numbered.number, documents.url_id, documents.host, documents.rank, qualities.quality, documents.segment,
       documents.place,
       coalesce(anchors.anchors, []) AS anchors, coalesce(copies.urls, []) AS copies,
       feed_dates.published AS listed_at
FROM numbered JOIN documents ON documents.ordinal = numbered.ordinal
JOIN qualities ON qualities.ordinal = numbered.ordinal
LEFT JOIN anchors ON anchors.target_id = documents.url_id
LEFT JOIN copies ON copies.ordinal = documents.ordinal
LEFT JOIN feed_dates ON feed_dates.url_id = documents.url_id
WHERE numbered.is_new
ORDER BY numbered.number;

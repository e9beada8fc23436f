"""Computes the features of candidate pages from the forward index: one row per page, one column per feature.

No text is split or unpacked here. `score.py` says what each feature means and multiplies it with its weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.document_vectors import DocumentVectors
from periplus.index.facets import number_of_name
from periplus.index.forward import ForwardIndex
from periplus.index.kinds import Kind
from periplus.index.sites import Sites
from periplus.index.vectors import Vectors
from periplus.search.query_terms import Booleans, Hits, QueryTerms
from periplus.text.bm25 import saturation

_WINDOW = 30  # words
_NEAR = 3  # words from one term to the next that still makes a pair
_FAR = np.iinfo(np.intp).max
_GENERATED = [number_of_name(kind) for kind in (Kind.SOURCE, Kind.INDEX, Kind.CHANGES)]
Numbers = NDArray[np.float64]


class Candidates(NamedTuple):
    """Pages that are scored; one value per page."""

    numbers: NDArray[np.int64]  # of the documents
    languages: NDArray[np.intp]  # place of its language among those of the index
    hosts: NDArray[np.uint64]
    ranks: Numbers
    qualities: Numbers
    kinds: NDArray[np.int64]
    code: Numbers  # share of the code-like tokens of the query that the page has as they are written
    likely: Numbers  # probability that the query is in the language of the page


class Reader(NamedTuple):
    """The files that features are computed from."""

    forward: ForwardIndex
    sites: Sites
    vectors: Vectors | None
    documents: DocumentVectors | None


class FeatureRows:
    """The features of some candidates for one query."""

    def __init__(self, reader: Reader, query: QueryTerms, candidates: Candidates) -> None:
        self._reader, self._query, self._pages = reader, query, candidates
        content = query.content[candidates.languages]
        self._weights = query.idf * content  # by page and term
        self._total = np.maximum(self._weights.sum(axis=1), 1e-9)

    def compute(self) -> dict[str, Numbers]:
        """Every feature by name."""
        found = self._in_title.counts + self._in_body.counts > 0
        other = self._weights * ~self._named  # what the query says besides the name of the site
        cosines = self._cosines()
        return {
            "text": np.log1p(self._bm25(self._in_title, "title") + self._bm25(self._in_body, "body")),
            "coverage": self._share(found | self._named),
            "window": self._best_window(),
            "pairs": self._pairs(),
            "title": _share_of(other, self._in_title.counts > 0, self._weights, self._named),
            "title_exact": self._title_exact() * self._share((self._in_title.counts > 0) | self._named),
            "headings": self._share(self._in("headings").counts > 0),
            "anchors": np.log1p(self._bm25(self._in("anchors"), "anchors")),
            "url": self._share(self._in_path),
            "url_tail": self._url_tail(),
            "site": self._share(self._named),
            "front": self._share(self._named) ** 3 / (1.0 + self._depth),
            "meaning_title": cosines[:, 0],
            "meaning_headings": cosines[:, 1],
            "meaning_opening": cosines[:, 2],
            "language": self._pages.likely,
            "code": self._pages.code,
            "generated": np.isin(self._pages.kinds, _GENERATED).astype(np.float64),
            "length": np.log1p(self._reader.forward.lengths(self._pages.numbers, "body").astype(np.float64)),
            "rank": np.log(self._pages.ranks),
            "quality": self._pages.qualities - 0.5,
        }

    def _share(self, found: Booleans) -> Numbers:
        """The share of the weight of the query that these terms have."""
        shares: Numbers = (self._weights * found).sum(axis=1) / self._total
        return shares

    def _in(self, field: str) -> Hits:
        return self._query.hits(self._reader.forward.read(self._pages.numbers, field))

    @cached_property
    def _in_title(self) -> Hits:
        return self._in("title")

    @cached_property
    def _in_body(self) -> Hits:
        return self._in("body")

    @cached_property
    def _in_url(self) -> Hits:
        return self._in("url")

    def _bm25(self, hits: Hits, field: str) -> Numbers:
        forward = self._reader.forward
        lengths = forward.lengths(self._pages.numbers, field)[:, None]
        scores: Numbers = (self._weights * saturation(hits.counts, lengths, forward.mean_length(field))).sum(axis=1)
        return scores

    # -- the address and the site ---------------------------------------------------------------------------------

    @cached_property
    def _breaks(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """By page: the end of the host in the words of the URL, the start of the last part, and the number of parts."""
        rows = self._in_url.rows
        breaks = np.flatnonzero(rows.words == 0)
        first, after = np.searchsorted(breaks, rows.starts[:-1]), np.searchsorted(breaks, rows.starts[1:])
        padded = np.append(breaks, _FAR)
        ends = np.minimum(padded[first], rows.starts[1:])
        tails = np.where(after > first, padded[after - 1] + 1, rows.starts[1:])
        return ends, tails, after - first

    @property
    def _depth(self) -> Numbers:
        return self._breaks[2].astype(np.float64)

    @cached_property
    def _in_path(self) -> Booleans:
        hits = self._in_url
        return self._marked(hits, hits.at > self._breaks[0][hits.document])

    @cached_property
    def _named(self) -> Booleans:
        """Which terms name the site of the page: by its host name, or because most titles of the site have them."""
        hits = self._in_url
        named = self._marked(hits, hits.at < self._breaks[0][hits.document])
        for number, terms in self._query.joined().items():
            at = np.flatnonzero(hits.rows.words == number)
            pages = np.searchsorted(hits.rows.starts, at, side="right") - 1
            pages = pages[at < self._breaks[0][pages]]
            for term in terms:
                named[pages, term] = True
        hosts, places = np.unique(self._pages.hosts, return_inverse=True)
        by_title = np.array([self._named_by_titles(int(host)) for host in hosts], bool).reshape(len(hosts), -1)
        return named | by_title[places]

    def _named_by_titles(self, host: int) -> list[bool]:
        words = self._reader.sites.words_of(host)
        return [not words.isdisjoint(names) for names in self._query.names]

    def _marked(self, hits: Hits, chosen: Booleans) -> Booleans:
        """By page and term: whether any of the chosen hits is there."""
        marked = np.zeros(hits.counts.shape, bool)
        marked[hits.document[chosen], hits.term[chosen]] = True
        return marked

    def _url_tail(self) -> Numbers:
        """The share of the query in the last part of the URL, when that part has no other words."""
        hits, (_, tails, _) = self._in_url, self._breaks
        chosen = hits.at >= tails[hits.document]
        inside = np.bincount(hits.document[chosen], minlength=len(tails))
        return self._share(self._marked(hits, chosen)) * (inside == hits.rows.starts[1:] - tails)

    # -- the title ------------------------------------------------------------------------------------------------

    def _title_exact(self) -> Numbers:
        """The share of the words of the title, without the name of the site, that are words of the query."""
        hits = self._in_title
        breaks = np.append(np.flatnonzero(hits.rows.words == 0), _FAR)
        starts, ends = hits.rows.starts[:-1], hits.rows.starts[1:]
        ends = np.minimum(breaks[np.searchsorted(breaks, starts)], ends)
        inside = np.bincount(hits.document[hits.at < ends[hits.document]], minlength=len(starts))
        shares: Numbers = inside / np.maximum(ends - starts, 1)
        return shares

    # -- the text -------------------------------------------------------------------------------------------------

    def _best_window(self) -> Numbers:
        """The largest share of the weight of the query within 30 words of the text."""
        hits = self._in_body
        ends = np.minimum(hits.at + _WINDOW, hits.rows.starts[1:][hits.document])
        covered = np.zeros(len(hits.at))
        for term in range(len(self._query)):
            places = np.where(hits.term == term, hits.at, _FAR)
            following = np.minimum.accumulate(places[::-1])[::-1]
            covered += self._weights[hits.document, term] * (following < ends)
        best = np.zeros(len(self._total))
        np.maximum.at(best, hits.document, covered)
        return best / self._total

    def _pairs(self) -> Numbers:
        """The share of the neighbouring terms of the query that are neighbours in the text or title."""
        found = _neighbours(self._in_body) | _neighbours(self._in_title)
        weights = np.minimum(self._weights[:, :-1], self._weights[:, 1:])
        shares: Numbers = (weights * found).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        return shares

    def _cosines(self) -> Numbers:
        vectors, documents = self._reader.vectors, self._reader.documents
        if vectors is None or documents is None or not len(self._query):
            return np.zeros((len(self._total), 3))
        parts = [(part, weight) for term, weight in zip(self._query.terms, self._query.idf, strict=True)
                 for part in term.parts if len(part)]
        words = np.array([vectors.representative(part) for part, _ in parts], np.uint32)
        weights = np.array([weight for _, weight in parts], np.float32)
        return documents.cosines(self._pages.numbers, vectors.mean(words, weights))


def _share_of(other: Numbers, found: Booleans, weights: Numbers, named: Booleans) -> Numbers:
    """The share of *other* that is found; for a query that only names the site, the share of all terms."""
    totals = other.sum(axis=1)
    plain = (weights * (found | named)).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
    shares: Numbers = np.where(totals > 0, (other * found).sum(axis=1) / np.maximum(totals, 1e-9), plain)
    return shares


def _neighbours(hits: Hits) -> Booleans:
    """By page and term: whether the next term of the query follows at once, or after a stop word or two."""
    found = np.zeros((len(hits.counts), max(hits.counts.shape[1] - 1, 0)), bool)
    follows = (np.diff(hits.at) <= _NEAR) & (np.diff(hits.term) == 1) & (np.diff(hits.document) == 0)
    at = np.flatnonzero(follows)
    found[hits.document[at], hits.term[at]] = True
    return found

"""Computes the features of candidate pages from the forward index: one row per page, one column per feature.

No text is split or unpacked here. `score.py` says what each feature means and multiplies it with its weight.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from periplus.index.documents.facets import number_of_name
from periplus.index.documents.kinds import Kind
from periplus.index.forward.forward_index import Rows
from periplus.search.open_index import Integers, Numbers, OpenIndex
from periplus.search.query.terms import Booleans, Hits, QueryTerms
from periplus.search.scoring.candidates import Candidates
from periplus.text.bm25 import saturation

_WINDOW = 30  # words
_COVERAGE_POWER, _WINDOW_POWER = 3, 4  # only nearly all of the query says much
_YEAR = 365 * 86_400.0  # seconds
_NEAR = 3  # words from one term to the next that still makes a pair
_FAR = np.iinfo(np.intp).max
_GENERATED = [number_of_name(kind) for kind in (Kind.SOURCE, Kind.INDEX, Kind.CHANGES)]
NEUTRAL_QUALITY = 0.5  # neither raises nor lowers the score


def freshness(dates: Integers) -> Numbers:
    """The feature of the candidates of a block by their dates."""
    return np.asarray(0.5 ** ((dates.max(initial=0) - dates) / _YEAR))


class FeatureRows:
    """The features of some candidates for one query."""

    def __init__(self, index: OpenIndex, query: QueryTerms, candidates: Candidates) -> None:
        self._index, self._query, self._pages = index, query, candidates
        self._total = max(float(query.weights.sum()), 1e-9)

    def compute(self) -> dict[str, Numbers]:
        """Every feature by name."""
        numbers = self._pages.numbers
        in_title = self._in_title.counts > 0
        cosines = self._cosines()
        return {
            "text": np.log1p(self._bm25(self._in_title, "title") + self._bm25(self._in_body, "body")),
            "coverage": self._share(in_title | (self._in_body.counts > 0) | self._named) ** _COVERAGE_POWER,
            "window": np.maximum(self._best_window(), self._share(in_title)) ** _WINDOW_POWER,
            "pairs": self._pairs(),
            "title": self._title(in_title),
            "title_exact": self._title_exact() * self._share(in_title | self._named),
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
            "length": np.log1p(self._index.forward.lengths(numbers, "body") / 100.0),
            "rank": np.log(self._index.ranks[numbers]),
            "quality": self._index.qualities[numbers] - NEUTRAL_QUALITY,
            "freshness": np.zeros(len(numbers)),  # depends on the other candidates of a block: see `freshness`
        }

    def _share(self, found: Booleans) -> Numbers:
        """The share of the weight of the query that these terms have."""
        shares: Numbers = found @ self._query.weights / self._total
        return shares

    def _in(self, field: str) -> Hits:
        """Where the terms occur; "c" counts for C++ only on pages that have C++ as it is written."""
        rows = self._short_fields.get(field)
        hits = self._query.hits(rows) if rows else self._query.find(self._pages.numbers, field)
        if not self._query.is_bare.any():
            return hits
        return hits.only(~self._query.is_bare[hits.term] | (self._pages.code[hits.document] > 0))

    @cached_property
    def _short_fields(self) -> dict[str, Rows]:
        return self._index.forward.read_each(self._pages.numbers, ("url", "title", "headings", "anchors"))

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
        forward = self._index.forward
        lengths = forward.lengths(self._pages.numbers, field)[:, None]
        scores: Numbers = saturation(hits.counts, lengths, forward.mean_length(field)) @ self._query.weights
        return scores

    # -- the address and the site ---------------------------------------------------------------------------------

    @cached_property
    def _breaks(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
        """By page: the end of the host in the words of the URL, the start of the last part, and the number of parts."""
        rows = self._short_fields["url"]
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
        hits, rows = self._in_url, self._short_fields["url"]
        named = self._marked(hits, hits.at < self._breaks[0][hits.document])
        for number, terms in self._query.joined().items():
            at = np.flatnonzero(rows.words == number)
            pages = np.searchsorted(rows.starts, at, side="right") - 1
            pages = pages[at < self._breaks[0][pages]]
            for term in terms:
                named[pages, term] = True
        hosts, places = np.unique(self._index.hosts[self._pages.numbers], return_inverse=True)
        by_title = np.array([self._named_by_titles(int(host)) for host in hosts], bool).reshape(len(hosts), -1)
        names: Booleans = (named | by_title[places]) & ~self._query.is_bare
        return names

    def _named_by_titles(self, host: int) -> list[bool]:
        words = self._index.sites.words_of(host)
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
        is_whole: Booleans = inside == hits.starts[1:] - tails
        return self._share(self._marked(hits, chosen)) * is_whole

    # -- the title ------------------------------------------------------------------------------------------------

    def _title(self, in_title: Booleans) -> Numbers:
        """The share of the query in the title, without the words that name the site unless there are no others."""
        other = np.where(self._named, 0.0, self._query.weights)
        totals = other.sum(axis=1)
        shares: Numbers = (other * in_title).sum(axis=1) / np.maximum(totals, 1e-9)
        return np.where(totals > 0, shares, self._share(in_title | self._named))

    def _title_exact(self) -> Numbers:
        """The share of the words of the title, without the name of the site, that are words of the query."""
        hits = self._in_title
        breaks = np.append(np.flatnonzero(self._short_fields["title"].words == 0), _FAR)
        starts, ends = hits.starts[:-1], hits.starts[1:]
        ends = np.minimum(breaks[np.searchsorted(breaks, starts)], ends)
        inside = np.bincount(hits.document[hits.at < ends[hits.document]], minlength=len(starts))
        shares: Numbers = inside / np.maximum(ends - starts, 1)
        return shares

    # -- the text -------------------------------------------------------------------------------------------------

    def _best_window(self) -> Numbers:
        """The largest share of the weight of the query within 30 words of the text."""
        hits = self._in_body
        ends = np.minimum(hits.at + _WINDOW, hits.starts[1:][hits.document])
        covered = np.zeros(len(hits.at))
        for term in range(len(self._query)):
            places = np.where(hits.term == term, hits.at, _FAR)
            following = np.minimum.accumulate(places[::-1])[::-1]
            covered += self._query.weights[term] * (following < ends)
        best = np.zeros(len(self._pages.numbers))
        np.maximum.at(best, hits.document, covered)
        return best / self._total

    def _pairs(self) -> Numbers:
        """The share of the neighbouring terms of the query that are neighbours in the text or title."""
        found = _neighbours(self._in_body) | _neighbours(self._in_title)
        weights = np.minimum(self._query.weights[:-1], self._query.weights[1:])
        shares: Numbers = found @ weights / max(float(weights.sum()), 1e-9)
        return shares

    def _cosines(self) -> Numbers:
        """The cosines of the query with the title, headings and opening of each page."""
        vectors, documents = self._index.vectors, self._index.document_vectors
        if vectors is None or documents is None:
            return np.zeros((len(self._pages.numbers), 3))
        words, weights = [], []
        for term, weight in zip(self._query.terms, self._query.weights.tolist(), strict=True):
            known = [vectors.representative(part) for part in term.parts if len(part)]
            words += known
            weights += [weight] * len(known)
        mean = vectors.mean(np.array(words, np.uint32), np.array(weights, np.float32))
        return documents.cosines(self._pages.numbers, mean)


def _neighbours(hits: Hits) -> Booleans:
    """By page and term: whether the next term of the query follows at once, or after a stop word or two."""
    found = np.zeros((len(hits.counts), max(hits.counts.shape[1] - 1, 0)), bool)
    follows = (np.diff(hits.at) <= _NEAR) & (np.diff(hits.term) == 1) & (np.diff(hits.document) == 0)
    at = np.flatnonzero(follows)
    found[hits.document[at], hits.term[at]] = True
    return found

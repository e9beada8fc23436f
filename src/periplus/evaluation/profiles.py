"""Known ranking formulas by name, to compare with: each orders the candidates of our own first stage.

=====================  ============================================================================================
bm25                   BM25 of title and text as one text (k1 1.2, b 0.75)
tfidf-cosine           cosine of query and document, words weighted (1 + log tf) idf
tfidf-pagerank         sum of (1 + log tf) idf, times PageRank; pages with all words in the title come first, then
                       pages with some
cosine-pagerank-z      cosine with (0.5 + 0.5 tf / largest tf) idf, times ((PageRank - mean) / deviation - 0.1)^2.5;
                       a negative base counts as 0, and the cosine decides between equal scores
cosine-log-pagerank    cosine + 0.2 min(log PageRank, 5) / 5 + 0.3 title + 0.1 headings + 0.2 phrase + 0.1 longest
                       common subsequence with the title + 0.1 opening (shares of the query)
=====================  ============================================================================================
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from periplus.evaluation.collection_figures import CollectionFigures
from periplus.search.open_index import Numbers, OpenIndex
from periplus.search.query.terms import Hits, QueryTerms
from periplus.search.scoring.candidates import Candidates
from periplus.text.bm25 import saturation

_LARGEST_LOG_RANK = 5.0


class Matched:
    """Where the terms of a query occur in the candidates."""

    def __init__(self, index: OpenIndex, figures: CollectionFigures, query: QueryTerms, pages: Candidates) -> None:
        self._index, self._query = index, query
        self.figures, self.numbers = figures, pages.numbers
        self.weights: Numbers = query.idf * query.counts

    def hits(self, field: str) -> Hits:
        """Where the terms occur in a field."""
        return self._query.find(self.numbers, field)

    @cached_property
    def title(self) -> Hits:
        """Where the terms occur in the title."""
        return self.hits("title")

    @cached_property
    def body(self) -> Hits:
        """Where the terms occur in the text."""
        return self.hits("body")

    @property
    def idf(self) -> Numbers:
        """The inverse document frequency of each term."""
        idf: Numbers = self._query.idf
        return idf

    @property
    def counts(self) -> Numbers:
        """By page and term: how often the term is in title and text."""
        return (self.title.counts + self.body.counts).astype(np.float64)

    @property
    def log_counts(self) -> Numbers:
        """1 + log tf of title and text, or 0."""
        counts = self.counts
        return np.where(counts > 0, 1.0 + np.log(np.maximum(counts, 1.0)), 0.0)

    @property
    def ranks(self) -> Numbers:
        """The PageRank of each page; 1 is that of a page without links to it."""
        found: Numbers = self._index.ranks[self.numbers]
        return found

    @property
    def lengths(self) -> NDArray[np.uint32]:
        """The number of words of title and text."""
        forward = self._index.forward
        return forward.lengths(self.numbers, "title") + forward.lengths(self.numbers, "body")

    def share(self, hits: Hits) -> Numbers:
        """The share of the terms of the query that the field has."""
        shares: Numbers = (hits.counts > 0).mean(axis=1)
        return shares


Keys = tuple[Numbers, ...]  # to sort by, the most important one first


def _bm25(pages: Matched) -> Keys:
    weights = saturation(pages.counts.astype(np.int64), pages.lengths[:, None], pages.figures.mean_length)
    return (weights @ pages.weights,)


def _log_cosine(pages: Matched) -> Numbers:
    lengths = pages.figures.vector_lengths.logarithmic[pages.numbers]
    cosines: Numbers = (pages.log_counts * pages.idf) @ pages.weights / lengths
    return cosines / max(float(np.linalg.norm(pages.weights)), 1e-9)


def _tfidf_cosine(pages: Matched) -> Keys:
    return (_log_cosine(pages),)


def _tfidf_pagerank(pages: Matched) -> Keys:
    in_title = pages.title.counts > 0
    tiers = in_title.all(axis=1).astype(float) + in_title.any(axis=1)
    return tiers, (pages.log_counts @ pages.weights) * pages.ranks


def _cosine_pagerank_z(pages: Matched) -> Keys:
    lengths, counts = pages.figures.vector_lengths, pages.counts
    augmented = np.where(counts > 0, 0.5 + 0.5 * counts / lengths.largest_tf[pages.numbers][:, None], 0.0)
    cosines = (augmented * pages.idf) @ pages.weights / lengths.augmented[pages.numbers]
    base = np.maximum(pages.figures.rank_deviations[pages.numbers] - 0.1, 0.0)
    return cosines * base**2.5, cosines


def _cosine_log_pagerank(pages: Matched) -> Keys:
    log_ranks = np.minimum(np.log(pages.ranks), _LARGEST_LOG_RANK) / _LARGEST_LOG_RANK
    phrase = np.maximum(_has_phrase(pages.title), _has_phrase(pages.body))
    bonuses = 0.3 * pages.share(pages.title) + 0.1 * pages.share(pages.hits("headings")) + 0.2 * phrase
    bonuses += 0.1 * _common_subsequences(pages.title) + 0.1 * pages.share(pages.hits("opening"))
    return (_log_cosine(pages) + 0.2 * log_ranks + bonuses,)


PROFILES: dict[str, Callable[[Matched], Keys]] = {
    "bm25": _bm25,
    "tfidf-cosine": _tfidf_cosine,
    "tfidf-pagerank": _tfidf_pagerank,
    "cosine-pagerank-z": _cosine_pagerank_z,
    "cosine-log-pagerank": _cosine_log_pagerank,
}


def ranked(pages: Matched, profile: str) -> list[int]:
    """The numbers of the candidates in the order of a formula, best first."""
    keys = PROFILES[profile](pages)
    order = np.lexsort((pages.numbers, *(-key for key in reversed(keys))))
    return list(map(int, pages.numbers[order]))


def _has_phrase(hits: Hits) -> Numbers:
    """1 for each page that has all terms of the query one after the other, in the order of the query."""
    size = hits.counts.shape[1]
    found = np.zeros(len(hits.counts))
    starts = np.arange(max(len(hits.at) - size + 1, 0) if size else 0)
    ends = starts + max(size - 1, 0)
    complete = (hits.at[ends] - hits.at[starts] == size - 1) & (hits.document[ends] == hits.document[starts])
    for term in range(size):
        complete &= hits.term[starts + term] == term
    found[hits.document[starts[complete]]] = 1.0
    return found


def _common_subsequences(hits: Hits) -> Numbers:
    """The length of the longest common subsequence of query and field, as a share of the query."""
    longest = np.zeros(len(hits.counts))
    for document, found in groupby(zip(hits.document.tolist(), hits.term.tolist(), strict=True), key=itemgetter(0)):
        last: list[int] = []  # the smallest last term of a subsequence of each length
        for _, term in found:
            place = bisect_left(last, term)
            last[place : place + 1] = [term]
        longest[document] = len(last)
    shares: Numbers = longest / max(hits.counts.shape[1], 1)
    return shares

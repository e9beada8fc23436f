"""Orders the pages that match a query: blocks of candidates, their features, their scores."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from periplus.config import Ranking
from periplus.model import SiteBoosts
from periplus.search.candidates import CandidateFinder, Candidates
from periplus.search.features import FeatureRows
from periplus.search.interpret import Search
from periplus.search.open_index import Numbers, OpenIndex
from periplus.search.query.terms import QueryTerms
from periplus.search.query.tree import restricts_site
from periplus.search.score import FEATURES, feature_matrix, ordered, score_parts, scores_of


class Scored(NamedTuple):
    """A page that matches the query."""

    number: int  # of the document in the index
    host: int
    features: Numbers  # in the order of `FEATURES`
    crowding: float  # what it loses to better results of its host
    block: int  # of candidates; all pages of a block come before those of the next
    preference: float = 0.0  # what the reader adds to the scores of this site


class Ranker:
    """Ranks the pages of one open index."""

    def __init__(self, index: OpenIndex, finder: CandidateFinder, weights: Ranking) -> None:
        self._index, self._finder, self.weights = index, finder, weights

    def terms(self, search: Search) -> QueryTerms:
        """The words of a search as numbers of the lexicon."""
        return QueryTerms(search.words, self._index.forward, search.language.possible, search.variants)

    def ranked(self, search: Search, depth: int, boosts: SiteBoosts = ()) -> tuple[list[Scored], int]:
        """The matches of a query in order, at least *depth* of them as long as there are more; and their number.

        *boosts* reorder the candidates of each block; they select no other candidates.
        """
        with search.step("terms"):
            terms = self.terms(search)
        ranked: list[Scored] = []
        with search.step("candidates"):
            selection = self._finder.selection(search.node, search.words, search.language)
        for number in count():
            if len(ranked) >= depth:
                break
            with search.step("candidates"):
                block = selection.next()
            if block is None:
                break
            with search.step("features"):
                ranked += self._scored(block, number, terms, boosts, crowded=is_crowded(search))
        return ranked, selection.total

    def parts(self, one: Scored) -> dict[str, float]:
        """The parts of the score of a page; their sum is the score."""
        return score_parts(one.features, self.weights, one.crowding, one.preference)

    def _scored(
        self, block: Candidates, number: int, terms: QueryTerms, boosts: SiteBoosts, *, crowded: bool
    ) -> list[Scored]:
        """The candidates of one block, best first; a query without words orders them by rank alone."""
        matrix = feature_matrix(FeatureRows(self._index, terms, block).compute())
        if not len(terms):
            matrix *= np.array([name == "rank" for name in FEATURES])
        hosts = self._index.hosts[block.numbers]
        scores = scores_of(matrix, self.weights)
        points = self._points(block, boosts) if boosts else None
        scores = scores if points is None else scores + points
        order, losses = ordered(scores, block.numbers, hosts.tolist(), self.weights, crowded=crowded)
        columns = (block.numbers[order].tolist(), hosts[order].tolist())
        preferences = () if points is None else (points[order].tolist(),)
        return list(map(Scored, *columns, matrix[order], losses.tolist(), repeat(number), *preferences))

    def _points(self, block: Candidates, boosts: SiteBoosts) -> Numbers:
        """What the reader adds to the score of each candidate; the longest matching host counts."""
        by_host = dict(boosts)
        _, first, places = np.unique(self._index.hosts[block.numbers], return_index=True, return_inverse=True)
        hosts = [self._index.pages.head(number).host for number in block.numbers[first].tolist()]
        return np.array([_points_of(host, by_host) for host in hosts])[places]


def _points_of(host: str, by_host: Mapping[str, float]) -> float:
    while host and host not in by_host:
        host = host.partition(".")[2]
    return by_host.get(host, 0.0)


def is_crowded(search: Search) -> bool:
    """Whether results lose to better results of their host: not when the query names a site."""
    return not restricts_site(search.root)

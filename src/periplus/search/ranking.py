"""Orders the pages that match a query: blocks of candidates, their features, their scores."""

from __future__ import annotations

from itertools import count, repeat
from typing import NamedTuple

import numpy as np

from periplus.config import Ranking
from periplus.search.candidates import CandidateFinder, Candidates
from periplus.search.features import FeatureRows
from periplus.search.interpret import Search
from periplus.search.open_index import Numbers, OpenIndex
from periplus.search.query.terms import QueryTerms
from periplus.search.query.tree import restricts_site
from periplus.search.score import FEATURES, contributions, feature_matrix, ordered, scores_of


class Scored(NamedTuple):
    """A page that matches the query."""

    number: int  # of the document in the index
    host: int
    features: Numbers  # in the order of `FEATURES`
    crowding: float  # what it loses to better results of its host
    block: int  # of candidates; all pages of a block come before those of the next


class Ranker:
    """Ranks the pages of one open index."""

    def __init__(self, index: OpenIndex, finder: CandidateFinder, weights: Ranking) -> None:
        self._index, self._finder, self.weights = index, finder, weights

    def terms(self, search: Search) -> QueryTerms:
        """The words of a search as numbers of the lexicon."""
        return QueryTerms(search.words, self._index.forward, search.language.possible, search.variants)

    def ranked(self, search: Search, depth: int) -> tuple[list[Scored], int]:
        """The matches of a query in order, at least *depth* of them as long as there are more; and their number."""
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
                ranked += self._scored(block, number, terms, crowded=is_crowded(search))
        return ranked, selection.total

    def parts(self, one: Scored) -> dict[str, float]:
        """The parts of the score of a page; their sum is the score."""
        return contributions(one.features, self.weights) | {"crowding": one.crowding}

    def _scored(self, block: Candidates, number: int, terms: QueryTerms, *, crowded: bool) -> list[Scored]:
        """The candidates of one block, best first; a query without words orders them by rank alone."""
        matrix = feature_matrix(FeatureRows(self._index, terms, block).compute())
        if not len(terms):
            matrix *= np.array([name == "rank" for name in FEATURES])
        hosts = self._index.hosts[block.numbers]
        scores = scores_of(matrix, self.weights)
        order, losses = ordered(scores, block.numbers, hosts.tolist(), self.weights, crowded=crowded)
        columns = (block.numbers[order].tolist(), hosts[order].tolist())
        return list(map(Scored, *columns, matrix[order], losses.tolist(), repeat(number)))


def is_crowded(search: Search) -> bool:
    """Whether results lose to better results of their host: not when the query names a site."""
    return not restricts_site(search.root)

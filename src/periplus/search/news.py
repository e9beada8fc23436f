"""Finds dated pages, newest first.

News are pages with a publication date, their own or that of a feed; `index/facets.py` has the rule. No score pushes
weak matches down here, so a page must have all words of the query.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from tantivy import Occur, Query

from periplus.index.facets import NEWS
from periplus.model import Results
from periplus.search.hits import HitMaker
from periplus.search.interpret import Interpreter, Mode, Search, checked_page, left_out_words, no_results, valid_text
from periplus.search.open_index import OpenIndex
from periplus.search.query.tree import Node
from periplus.search.ranking import Scored
from periplus.search.score import FEATURES


class News:
    """Searches the news of one open index."""

    def __init__(self, index: OpenIndex, interpreter: Interpreter, hit_maker: HitMaker) -> None:
        self._index, self._interpreter, self._hit_maker = index, interpreter, hit_maker

    def search(self, query: str, page: int, size: int, mode: Mode, *, verbatim: bool) -> Results:
        """One page of news; the score of each is 0, because only its date counts."""
        checked_page(page, size)
        started, query = time.perf_counter(), valid_text(query)
        parsed = self._interpreter.parse(query)
        found = no_results(query, parsed, page, size)
        if parsed.root is not None:
            found = self._answered(found, parsed.root, mode, verbatim=verbatim)
        return replace(found, seconds=time.perf_counter() - started)

    def _answered(self, empty: Results, root: Node, mode: Mode, *, verbatim: bool) -> Results:
        """The news of a query; *empty*: the same without results."""
        other = None if verbatim else self._interpreter.correct(root)
        is_corrected = other is not None and other.is_used
        search = self._interpreter.begin(other.root if other and is_corrected else root, mode, empty.steps)
        with search.step("candidates"):
            skipped = (empty.page - 1) * empty.size
            numbers, total = self._index.newest_first(self._matching(search, mode), skipped, empty.size)
            complete, whole = self._with_all_words(search, mode, numbers, total)
        shown = [Scored(number, 0, np.zeros(len(FEATURES)), 0.0, block=0) for number in numbers]
        with search.step("snippets"):
            hits = self._hit_maker.hits(shown, whole, search, explain=False)
        return replace(
            empty,
            total=total,
            hits=hits,
            with_all_words=complete,
            corrected=str(other.root) if other and is_corrected else "",
            suggestion=str(other.root) if other and not is_corrected else "",
            left_out=left_out_words(search),
        )

    def count(self, query: str, mode: Mode) -> int:
        """The number of news, without spelling correction."""
        search = self._interpreter.begun(query, mode, verbatim=True)
        return self._index.count(self._matching(search, mode)) if search else 0

    def _matching(self, search: Search, mode: Mode) -> Query:
        """Matches the news of a search; only with `Mode.OR` any word suffices."""
        return self._dated(self._interpreter.matching(search) if mode is Mode.OR else search.all_words)

    def _with_all_words(self, search: Search, mode: Mode, numbers: list[int], total: int) -> tuple[int, set[int]]:
        """How many news have all words, and the numbers of those that are shown."""
        if mode is not Mode.OR:
            return total, set(numbers)
        return self._index.count_with(self._dated(search.all_words), numbers)

    def _dated(self, query: Query) -> Query:
        """The matches that are news."""
        is_news = Query.const_score_query(Query.term_query(self._index.schema, NEWS, 1), 0.0)
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, is_news)])

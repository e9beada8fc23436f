"""Finds dated pages, newest first.

News are pages with a publication date, their own or that of a feed; `index/documents/facets.py` has the rule. No score
pushes weak matches down here, so a page must have all words of the query.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from periplus.model import Results
from periplus.search.interpret import Interpreter, Mode, Search, checked_page, left_out_words, no_results, valid_text
from periplus.search.query.tree import Node
from periplus.search.ranking import Ranker, Scored
from periplus.search.scoring.score import FEATURES
from periplus.search.shards.counts import ShardCounts
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.port import MatchSet


class News:
    """Searches the news of all shards."""

    def __init__(self, group: TrackedShards, counts: ShardCounts, interpreter: Interpreter, ranker: Ranker) -> None:
        self._group, self._counts, self._interpreter, self._ranker = group, counts, interpreter, ranker

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
            numbers, total = self._newest(search, (empty.page - 1) * empty.size, empty.size)
            complete = total if mode is not Mode.OR else self._total(search, MatchSet.WHOLE_NEWS)
        match_set = MatchSet.RESULTS if mode is Mode.OR else MatchSet.WHOLE
        with search.step("snippets"):
            hits = self._ranker.hits(numbers, search, match_set, explain=False)
        return replace(
            empty,
            total=total,
            hits=hits,
            with_all_words=complete,
            corrected=str(other.root) if other and is_corrected else "",
            suggestion=str(other.root) if other and not is_corrected else "",
            left_out=left_out_words(search),
        )

    def _newest(self, search: Search, skipped: int, size: int) -> tuple[list[Scored], int]:
        """One page of the news of all shards, newest first; and the number of all news."""
        request, match_set = self._counts.request(search), _match_set(search)
        answers = self._group.ask(lambda shard: shard.newest(request, match_set, skipped + size))
        dated = [
            (-date, number, shard)
            for shard, found in answers.items()
            for number, date in zip(found.numbers, found.dates, strict=True)
        ]
        ordered = sorted(dated) if len(answers) > 1 else dated
        nothing = np.zeros(len(FEATURES))
        shown = [Scored(number, 0, nothing, 0.0, 0, shard) for _, number, shard in ordered[skipped : skipped + size]]
        return shown, sum(found.total for found in answers.values())

    def count(self, query: str, mode: Mode) -> int:
        """The number of news, without spelling correction."""
        search = self._interpreter.begun(query, mode, verbatim=True)
        return self._total(search, _match_set(search)) if search else 0

    def _total(self, search: Search, match_set: MatchSet) -> int:
        request = self._counts.request(search)
        return sum(self._group.ask(lambda shard: shard.count(request, match_set)).values())


def _match_set(search: Search) -> MatchSet:
    """Only with `Mode.OR` any word suffices."""
    return MatchSet.NEWS if search.mode is Mode.OR else MatchSet.WHOLE_NEWS

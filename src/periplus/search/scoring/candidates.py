"""Selects the pages that a search scores.

tantivy cannot compare scores of different languages. So every likely language of the query has its own lists: the best
pages by title and text, and the best pages by all fields times the PageRank prior. The more likely the language, the
longer its lists. Unlikely languages share one list. Candidates come in blocks: the first block has the best of all
lists, the next block what follows them. `shards/merge.py` divides the lists into blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
from tantivy import Occur, Query

from periplus.config import Ranking
from periplus.index.documents.schema import CODE
from periplus.search.open_index import Integers, Matches, Numbers, OpenIndex
from periplus.search.query.compile import Compiler, Idf
from periplus.search.query.tree import Node, Or, Word
from periplus.search.query_language import QueryLanguage
from periplus.text.code_tokens import code_tokens

_SMALLEST_SHARE = 0.1  # of a block, for a list
_LIKELY = 0.05  # probability of a language with its own lists
_DEVIATIONS, _MORE = 3.0, 4  # of the length of a list in a shard


class Candidates(NamedTuple):
    """Pages that are scored; one value per page."""

    numbers: Integers  # of the documents
    likely: Numbers  # probability that the query is in the language of the page
    kinds: Integers
    dates: Integers
    code: Numbers  # share of the code-like tokens of the query that the page has as they are written


class CandidateList(NamedTuple):
    """The best matches of one list, best first."""

    places: Integers  # in the arrays of the candidates
    scores: Numbers
    limit: int  # of the list in one block of the whole collection
    total: int  # number of matches; 0: not counted
    is_complete: bool  # there are no more matches


class _List(NamedTuple):
    """A list of pages of one or several languages."""

    query: Query
    likely: float
    is_full: bool  # has all matches; they are multiplied by the prior


class CandidateFinder:
    """Selects candidates in one index."""

    def __init__(self, index: OpenIndex, weights: Ranking) -> None:
        self._index, self._block = index, weights.candidates
        title_and_body = weights.model_copy(update={"field_head": 0.0, "field_anchors": 0.0, "field_url": 0.0})
        shares = {language: count / max(index.documents, 1) for language, count in index.languages.items()}
        self._all_fields, self._short = (
            {name: Compiler(index.schema, own, name, share, index.frequency) for name, share in shares.items()}
            for own in (weights, title_and_body)
        )

    def select(
        self, node: Node, words: Sequence[str], language: QueryLanguage, blocks: int, idf: Idf | None = None
    ) -> tuple[Candidates, tuple[CandidateList, ...]]:
        """The candidates of the first blocks, in the order of their numbers; *words* are the words to find.

        *idf*: that of the whole collection, when the index has only some of the documents.
        """
        wanted = list(self._lists(node, words, language, idf))
        limits = [max(int(self._block * max(one.likely, _SMALLEST_SHARE)), 1) for one in wanted]
        own = [candidates_per_shard(limit * blocks, self._index.common.shards) for limit in limits]
        found = [
            self._index.matches(one.query, most, with_prior=one.is_full) for one, most in zip(wanted, own, strict=True)
        ]
        numbers, first, places = np.unique(_joined(found, "numbers"), return_index=True, return_inverse=True)
        ends = np.cumsum([0, *(len(one.numbers) for one in found)]).tolist()
        likely = np.repeat([one.likely for one in wanted], np.diff(ends))[first].astype(np.float64)
        kinds, dates = (_joined(found, name)[first] for name in ("kinds", "dates"))
        lists = tuple(
            CandidateList(places[start:end], one.scores, limit, one.total, is_complete=end - start < most)
            for start, end, one, limit, most in zip(ends, ends[1:], found, limits, own, strict=False)
        )
        return Candidates(numbers, likely, kinds, dates, self._with_code(numbers, words)), lists

    def matching(self, node: Node, language: QueryLanguage) -> Query:
        """The query for pages of all languages that match; its scores are not those of the whole collection."""
        return _any_of([query for _, query in self._compiled(node, language, None)])

    def _compiled(self, node: Node, language: QueryLanguage, idf: Idf | None) -> list[tuple[str, Query]]:
        any_word, ignored = _any_words(node), language.ignored
        compiled = [
            (name, (any_word and one.any_of(any_word, ignored, idf)) or one.compile(node, ignored, idf))
            for name, one in self._all_fields.items()
        ]
        return [(name, query) for name, query in compiled if query is not None]

    def _lists(self, node: Node, words: Sequence[str], language: QueryLanguage, idf: Idf | None) -> Iterator[_List]:
        unlikely = []
        for name, query in self._compiled(node, language, idf):
            likely = language.likely.get(name, 0.0)
            if likely < _LIKELY:
                unlikely.append(query)
                continue
            yield _List(query, likely, is_full=True)
            plain = self._short[name].any_of(words, language.ignored, idf) if _any_words(node) else None
            if plain is not None:  # every page that it finds matches the query
                yield _List(plain, likely, is_full=False)
            elif (scored := self._by_title_and_body(name, words, language, idf)) is not None:
                rules = (Occur.Must, Query.const_score_query(query, 0.0))
                yield _List(Query.boolean_query([(Occur.Should, scored), rules]), likely, is_full=False)
        if unlikely:
            yield _List(_any_of(unlikely), 0.0, is_full=True)

    def _with_code(self, numbers: Integers, words: Sequence[str]) -> Numbers:
        """The share of the code-like tokens among the words that each page has as they are written."""
        shares, codes = np.zeros(len(numbers)), code_tokens(" ".join(words)).split()
        for token in codes if len(numbers) else ():
            query = Query.term_query(self._index.schema, CODE, token)
            shares[np.searchsorted(numbers, self._index.among(query, numbers.tolist()))] += 1.0 / len(codes)
        return shares

    def _by_title_and_body(
        self, name: str, words: Sequence[str], language: QueryLanguage, idf: Idf | None
    ) -> Query | None:
        wanted = [Word(word) for word in words]
        if not wanted:
            return None
        node = Or(tuple(wanted)) if len(wanted) > 1 else wanted[0]
        return self._short[name].compile(node, language.ignored, idf)


def candidates_per_shard(limit: int, shards: int) -> int:
    """The length of a list in one of several shards, so that together they have the *limit* best of all shards.

    The best pages are spread over the shards by chance. More than this many of them are in one shard in about one of
    10,000 searches; then the last of them are missing.
    """
    if shards <= 1:
        return limit
    mean = limit / shards
    return min(limit, ceil(mean + _DEVIATIONS * sqrt(mean) + _MORE))


def _any_words(node: Node) -> list[str]:
    """The words of a query for pages with any of its words; empty for other queries."""
    parts = node.nodes if isinstance(node, Or) else (node,)
    words = [part.text for part in parts if isinstance(part, Word)]
    return words if len(words) == len(parts) else []


def _any_of(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _joined(found: list[Matches], name: str) -> Integers:
    parts = [getattr(matches, name) for matches in found]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)

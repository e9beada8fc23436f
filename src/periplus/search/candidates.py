"""Selects the pages that a search scores.

tantivy cannot compare scores of different languages. So every likely language of the query has its own lists: the best
pages by title and text, and the best pages by all fields times the PageRank prior. The more likely the language, the
longer its lists. Unlikely languages share one list. Candidates come in blocks: the first block has the best of all
lists, the next block what follows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from tantivy import Occur, Query

from periplus.config import Ranking
from periplus.index.schema import CODE
from periplus.search.open_index import Integers, Matches, Numbers, OpenIndex
from periplus.search.query.compile import Compiler
from periplus.search.query.tree import Node, Or, Word
from periplus.search.query_language import QueryLanguage
from periplus.text.code_tokens import code_tokens

_SMALLEST_SHARE = 0.1  # of a block, for a list
_LIKELY = 0.05  # probability of a language with its own lists


class Candidates(NamedTuple):
    """Pages that are scored; one value per page."""

    numbers: Integers  # of the documents
    likely: Numbers  # probability that the query is in the language of the page
    kinds: Integers
    dates: Integers
    code: Numbers  # share of the code-like tokens of the query that the page has as they are written


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
        self._all_fields = {name: Compiler(index.schema, weights, name, share) for name, share in shares.items()}
        self._short = {name: Compiler(index.schema, title_and_body, name, share) for name, share in shares.items()}

    def selection(self, node: Node, words: Sequence[str], language: QueryLanguage) -> Selection:
        """The candidates for a query; *words* are the words to find."""
        return Selection(
            self._index, list(self._lists(node, words, language)), code_tokens(" ".join(words)).split(), self._block
        )

    def matching(self, node: Node, language: QueryLanguage) -> Query:
        """The query for pages of all languages that match."""
        return _any_of([query for _, query in self._compiled(node, language)])

    def _compiled(self, node: Node, language: QueryLanguage) -> list[tuple[str, Query]]:
        any_word, ignored = _any_words(node), language.ignored
        compiled = [
            (name, (any_word and one.any_of(any_word, ignored)) or one.compile(node, ignored))
            for name, one in self._all_fields.items()
        ]
        return [(name, query) for name, query in compiled if query is not None]

    def _lists(self, node: Node, words: Sequence[str], language: QueryLanguage) -> Iterator[_List]:
        unlikely = []
        for name, query in self._compiled(node, language):
            likely = language.likely.get(name, 0.0)
            if likely < _LIKELY:
                unlikely.append(query)
                continue
            yield _List(query, likely, is_full=True)
            plain = self._short[name].any_of(words, language.ignored) if _any_words(node) else None
            if plain is not None:  # every page that it finds matches the query
                yield _List(plain, likely, is_full=False)
            elif (scored := self._by_title_and_body(name, words, language)) is not None:
                rules = (Occur.Must, Query.const_score_query(query, 0.0))
                yield _List(Query.boolean_query([(Occur.Should, scored), rules]), likely, is_full=False)
        if unlikely:
            yield _List(_any_of(unlikely), 0.0, is_full=True)

    def _by_title_and_body(self, name: str, words: Sequence[str], language: QueryLanguage) -> Query | None:
        wanted = [Word(word) for word in words]
        if not wanted:
            return None
        return self._short[name].compile(Or(tuple(wanted)) if len(wanted) > 1 else wanted[0], language.ignored)


class Selection:
    """The candidates for one query, block by block."""

    def __init__(self, index: OpenIndex, lists: list[_List], codes: list[str], size: int) -> None:
        """*codes*: the code-like tokens of the query; *size*: of a list in a block, if it were the only one."""
        self._index, self._lists, self._codes, self._size = index, lists, codes, size
        self._known = np.zeros(0, np.int64)
        self._block = 0
        self._is_complete = False
        self.total = 0  # number of matching pages; known after the first block

    def next(self) -> Candidates | None:
        """The next block; None when there is none."""
        while not self._is_complete:
            self._block += 1
            limits = [max(int(self._size * max(one.likely, _SMALLEST_SHARE)), 1) * self._block for one in self._lists]
            found = [
                self._index.matches(one.query, limit, with_prior=one.is_full)
                for one, limit in zip(self._lists, limits, strict=True)
            ]
            self.total = sum(matches.total for matches, one in zip(found, self._lists, strict=True) if one.is_full)
            self._is_complete = all(len(one.numbers) < limit for one, limit in zip(found, limits, strict=True))
            if len((block := self._unknown(found)).numbers):
                return block
        return None

    def _unknown(self, found: list[Matches]) -> Candidates:
        """The matches that no earlier block had, each once, in the order of their numbers."""
        numbers, first = np.unique(_joined(found, "numbers"), return_index=True)
        kept = ~np.isin(numbers, self._known)
        numbers, first = numbers[kept], first[kept]
        self._known = np.union1d(self._known, numbers)
        likely = np.repeat([one.likely for one in self._lists], [len(matches.numbers) for matches in found])[first]
        kinds, dates = (_joined(found, name)[first] for name in ("kinds", "dates"))
        return Candidates(numbers, likely.astype(np.float64), kinds, dates, self._with_code(numbers))

    def _with_code(self, numbers: Integers) -> Numbers:
        shares = np.zeros(len(numbers))
        for token in self._codes if len(numbers) else ():
            query = Query.term_query(self._index.schema, CODE, token)
            shares[np.searchsorted(numbers, self._index.among(query, numbers.tolist()))] += 1.0 / len(self._codes)
        return shares


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

"""Interprets a query: its language, the words to find, their spellings, and what pages must match."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from periplus.errors import UsageError
from periplus.model import Results
from periplus.search.missing_shards import CompleteCache
from periplus.search.query.options import read_options
from periplus.search.query.parser import ParsedQuery, parse_query
from periplus.search.query.tree import Node, loosened, wanted_words, widened
from periplus.search.query_language import QueryLanguage, WordCounts, query_language
from periplus.search.suggest.correction import Corrected, corrected
from periplus.search.suggest.spelling import Speller

_REMEMBERED = 256  # interpreted queries: the filters and tabs of a result page count with the same one


class Mode(StrEnum):
    """How many of the words a page must have."""

    AUTO = "auto"  # any; pages with more of the query come first
    AND = "and"
    OR = "or"


@dataclass(frozen=True)  # without slots, for its cached properties
class Search:
    """The state of one search, shared by its stages."""

    root: Node
    mode: Mode
    words: list[str]  # to find; without the ignored ones
    variants: dict[str, list[str]]  # other right spellings of words, such as American for British
    language: QueryLanguage
    steps: dict[str, float]

    @cached_property
    def node(self) -> Node:
        """What candidates must match."""
        return self.root if self.mode is Mode.AND else widened(loosened(self.root), self.variants)

    @cached_property
    def needs_all_words(self) -> bool:
        """Whether every result matches the query as a whole."""
        return self.node == self.root

    def step(self, name: str) -> AbstractContextManager[None]:
        """Measures a step."""
        return timed(self.steps, name)


@contextmanager
def timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Measures a step; the times of a repeated step add up."""
    started = time.perf_counter()
    try:
        yield
    finally:
        steps[name] = steps.get(name, 0.0) + time.perf_counter() - started


class Counts(WordCounts, Protocol):
    """What the interpretation of a query needs to know about the pages."""

    def count(self, root: Node, language: QueryLanguage) -> int:
        """The number of pages that match a query as a whole."""
        ...


class Interpreter:
    """Interprets queries for one generation of the index."""

    def __init__(self, counts: Counts, speller: Speller) -> None:
        self._counts, self._speller = counts, speller
        self._as_typed = CompleteCache[tuple[str, Mode], Search | None](_REMEMBERED)

    def parse(self, query: str) -> ParsedQuery:
        """Parses any text; options that find nothing count as words."""
        return read_options(parse_query(valid_text(query)), self.count)

    def correct(self, root: Node) -> Corrected | None:
        """Another spelling of the query that is probably meant."""
        return corrected(root, self._speller, self.count)

    def begin(self, root: Node, mode: Mode, steps: dict[str, float]) -> Search:
        """The first stage of a search."""
        with timed(steps, "parse"):
            words = wanted_words(root)
            language = query_language(words, self._counts)
            kept = [word for word in words if word not in language.ignored]
            variants = {word: self._speller.variants(word) for word in kept if word.isalpha()}
            return Search(root, mode, kept, variants, language, steps)

    def begun(self, query: str, mode: str, *, verbatim: bool) -> Search | None:
        """The first stage of a search; None when the query has no word to search for."""
        key = (query, Mode(mode))
        found = self._as_typed.get(key, lambda: self._begin_as_typed(*key))
        if found is None:
            return None
        other = None if verbatim else self.correct(found.root)
        return self.begin(other.root, Mode(mode), {}) if other and other.is_used else replace(found, steps={})

    def _begin_as_typed(self, query: str, mode: Mode) -> Search | None:
        root = self.parse(query).root
        return None if root is None else self.begin(root, mode, {})

    def count(self, root: Node) -> int:
        """The number of pages that match a query."""
        return self._counts.count(root, query_language(wanted_words(root), self._counts))


def checked_page(page: int, size: int) -> None:
    """Raises `UsageError` unless there can be such a page of results."""
    if page < 1 or size < 1:
        raise UsageError("page and size must be at least 1")


def no_results(query: str, parsed: ParsedQuery, page: int, size: int) -> Results:
    """The answer to a query before the search."""
    return Results(
        query=query,
        understood=parsed.understood,
        total=0,
        total_is_exact=True,
        seconds=0.0,
        page=page,
        size=size,
        hits=(),
        hints=parsed.hints,
        excluded=parsed.excluded,
    )


def left_out_words(search: Search) -> tuple[str, ...]:
    """The words of the query that the search ignores, in order."""
    return tuple(dict.fromkeys(word for word in wanted_words(search.root) if word in search.language.ignored))


def valid_text(query: str) -> str:
    """The query in valid Unicode: a lone surrogate becomes a question mark."""
    return query.encode("utf-8", "replace").decode()

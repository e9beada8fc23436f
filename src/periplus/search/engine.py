"""Which pages answer this query, in which order, and why?

Three stages: the index selects candidates by text score times prior; numbers order them; the words of the best are
looked at closely. A page of results is a slice of the list that comes out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Query

from periplus.config import Settings
from periplus.errors import DamagedFile
from periplus.index.generations import Generations, facts_of, number_of
from periplus.index.pagestore import Head, PageStore
from periplus.index.schema import NUMBER, PRIOR, URL_ID
from periplus.model import CachedPage, Hit, Results
from periplus.search.compile import Compiler
from periplus.search.crowding import spread
from periplus.search.query import And, Node, Or, Site, loosened, parse_query, wanted_words
from periplus.search.score import Numbers, Wanted, by_numbers, contributions
from periplus.search.snippet import make_snippet
from periplus.store.archive import read_response
from periplus.store.collection import Collection
from periplus.text.analyzer import LANGUAGES, language_of, register, terms
from periplus.url import url_id

_FEW = 10  # with fewer pages holding all words, pages holding some follow


class Mode(StrEnum):
    """How many of the words a page must hold."""

    AUTO = "auto"  # all; when few pages do, those with some follow
    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True)
class _Scored:
    number: int
    host: str
    score: float
    head: Head
    parts: dict[str, float]
    all_words: bool


@dataclass(slots=True)
class _Stopwatch:
    steps: dict[str, float]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.perf_counter() - started


class SearchEngine:
    """One open generation; safe to share between threads, never writes."""

    def __init__(self, collection: Collection, generation: Path, settings: Settings) -> None:
        self._collection, self._weights = collection, settings.ranking
        self.generation = number_of(generation)
        facts = facts_of(generation)
        self.documents = int(facts["documents"])
        self._prior_strength = float(facts["prior_strength"])
        try:
            self._index = Index.open(str(generation / "tantivy"))
            self._ranks: Numbers = np.load(generation / "ranks.npy").astype(np.float64)
        except (ValueError, OSError) as error:
            raise DamagedFile(f"{generation} is damaged", str(error), "`periplus index` builds a new one.") from error
        register(self._index)
        self._searcher = self._index.searcher()
        self._compiler = Compiler(self._index.schema, settings.ranking)
        self._pages = PageStore(generation)

    @classmethod
    def open(cls, collection: Collection, settings: Settings) -> SearchEngine:
        """The live generation of a collection."""
        return cls(collection, Generations(collection.index).current(), settings)

    def close(self) -> None:
        """Let go of the files."""
        self._pages.close()

    def search(
        self, query: str, *, page: int = 1, size: int = 15, explain: bool = False, mode: str = Mode.AUTO
    ) -> Results:
        """One page of the answer to a query; any text is a query."""
        watch = _Stopwatch({})
        started = time.perf_counter()
        with watch.step("parse"):
            parsed = parse_query(query)
        root, hints = parsed.root, list(parsed.hints)
        scored, total = self._answer(root, Mode(mode), page * size, watch, hints) if root is not None else ([], 0)
        if root is not None and not _restricts_site(root):
            scored = spread(scored, lambda result: result.host, self._weights.per_host, size)
        with watch.step("snippets"):
            shown = scored[(page - 1) * size : page * size]
            hits = tuple(self._hit(result, root, explain=explain) for result in shown if root is not None)
        seconds = time.perf_counter() - started
        return Results(query, parsed.understood, total, True, seconds, page, size, hits, tuple(hints), watch.steps)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        head = self._find(url)
        if head is None or head.archive is None:
            return None
        response = read_response(self._collection.archive, head.archive)
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, _charset(response.headers))

    # -- the three stages ---------------------------------------------------------------------------------------

    def _answer(
        self, root: Node, mode: Mode, depth: int, watch: _Stopwatch, hints: list[str]
    ) -> tuple[list[_Scored], int]:
        loose = loosened(root)
        found, total = self._ranked(loose if mode is Mode.OR else root, root, depth, watch)
        if mode is not Mode.AUTO or total >= _FEW or loose == root:
            return found, total
        known = {result.number for result in found}
        more, _ = self._ranked(loose, root, depth, watch, all_words=False)
        rest = [result for result in more if result.number not in known]
        if rest:
            hints.append(f"{_pages(total)} hold all words; pages that hold some of them follow.")
        return found + rest, total + len(rest)

    def _ranked(
        self, node: Node, root: Node, depth: int, watch: _Stopwatch, *, all_words: bool = True
    ) -> tuple[list[_Scored], int]:
        with watch.step("candidates"):
            query = self._compiler.compile(node)
            if query is None:
                return [], 0
            numbers, texts, total = self._candidates(query, max(depth, self._weights.candidates))
        with watch.step("numbers"):
            ranks = self._ranks[numbers]
            scores = by_numbers(texts, ranks, self._weights)
            order = np.lexsort((numbers, -scores))
        with watch.step("words"):
            closely = order[: max(depth, self._weights.read_closely)]
            wanted = _wanted(root)
            scored = [self._read(int(numbers[i]), float(texts[i]), float(ranks[i]), wanted, all_words) for i in closely]
            scored.sort(key=lambda result: (-result.score, result.number))
        return scored, total

    def _candidates(self, query: Query, limit: int) -> tuple[NDArray[np.int64], Numbers, int]:
        result = self._searcher.search(query, limit, weight_by_field=PRIOR)
        addresses = [address for _, address in result.hits]
        numbers = np.array(self._searcher.fast_field_values(NUMBER, addresses), np.int64)
        weighted = np.array([score for score, _ in result.hits], np.float64)
        # tantivy multiplied by the stored prior; dividing gives the text score back, so that fresh ranks can be used.
        return numbers, weighted / self._ranks[numbers] ** self._prior_strength, result.count  # type: ignore[attr-defined]  # missing in its stubs

    def _read(self, number: int, text: float, rank: float, wanted: dict[str, Wanted], all_words: bool) -> _Scored:
        head = self._pages.head(number)
        parts = contributions(text, rank, head, wanted[language_of(head.language)], self._weights)
        return _Scored(number, head.host, sum(parts.values()), head, parts, all_words)

    def _hit(self, result: _Scored, root: Node, *, explain: bool) -> Hit:
        head = result.head
        language = language_of(head.language)
        snippet = make_snippet(
            self._pages.text(result.number), head.description, language, _wanted(root)[language].sequence
        )
        return Hit(
            url=head.url,
            title=head.title or head.url,
            snippet=snippet.text,
            highlights=snippet.highlights,
            score=result.score,
            host=head.host,
            fetched_at=head.fetched_at,
            mime=head.mime,
            language=head.language,
            same_content=head.same_content,
            all_words=result.all_words,
            explain=result.parts if explain else {},
        )

    def _find(self, url: str) -> Head | None:
        query = Query.term_query(self._index.schema, URL_ID, url_id(url).hex())
        hits = self._searcher.search(query, 1).hits
        if not hits:
            return None
        (number,) = self._searcher.fast_field_values(NUMBER, [hits[0][1]])
        return self._pages.head(int(number or 0))


def _wanted(root: Node) -> dict[str, Wanted]:
    text = " ".join(wanted_words(root))
    return {language: Wanted(tuple(terms(language, text))) for language in LANGUAGES}


def _restricts_site(node: Node) -> bool:
    match node:
        case Site():
            return True
        case And(nodes) | Or(nodes):
            return any(map(_restricts_site, nodes))
        case _:
            return False


def _pages(count: int) -> str:
    return "No pages" if count == 0 else f"Only {count} page{'s' * (count != 1)}"


def _charset(headers: dict[str, str]) -> str:
    _, _, charset = headers.get("content-type", "").partition("charset=")
    return charset.strip(" \"'").lower() or "utf-8"

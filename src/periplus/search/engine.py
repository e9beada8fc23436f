"""Which pages answer this query, in which order, and why?

Three stages: the index selects candidates by text score times prior; numbers order them; the words of the best are
looked at closely. A page of results is a slice of the list that comes out, so pages never overlap.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Occur, Query

from periplus.config import Settings
from periplus.errors import DamagedFile, UsageError
from periplus.index.arrays import load_array
from periplus.index.generations import REBUILD, Generations, facts_of, number_of, require_whole
from periplus.index.pagestore import Head, PageStore
from periplus.index.schema import HOSTS, NUMBER, PRIOR, QUALITIES, RANKS, URL_ID, prior_factor, schema
from periplus.model import CachedPage, Hit, Results
from periplus.search.compile import Compiler
from periplus.search.host_limit import limit_per_host
from periplus.search.match_positions import QueryWords
from periplus.search.query import And, Node, Or, Site, loosened, parse_query, wanted_words
from periplus.search.score import MIDDLING, Numbers, by_numbers, contributions
from periplus.search.snippet import make_snippet
from periplus.store.archive import read_response
from periplus.store.collection import Collection
from periplus.text.analyzer import LANGUAGES, language_of, register
from periplus.url import url_id

_FEW = 10  # with fewer pages holding all words, pages holding some follow
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


class Mode(StrEnum):
    """How many of the words a page must hold."""

    AUTO = "auto"  # all; when few pages do, those with some follow
    AND = "and"
    OR = "or"


class _Found(NamedTuple):
    """A candidate in its place."""

    number: int
    text: float  # its text score
    host: int
    all_words: bool = True


@dataclass(frozen=True, slots=True)
class _Asked:
    """One query on its way through the stages."""

    root: Node
    page: int
    size: int
    wanted: dict[str, QueryWords]  # by language
    hints: list[str]
    steps: dict[str, float] = field(default_factory=dict)
    read: dict[int, tuple[Head, dict[str, float]]] = field(default_factory=dict)  # what was read closely, by number

    @property
    def depth(self) -> int:
        """How far down the list the page reaches."""
        return self.page * self.size

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure a step; one that is taken twice adds up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.perf_counter() - started


class SearchEngine:
    """One open generation; safe to share between threads, never writes."""

    def __init__(self, collection: Collection, generation: Path, settings: Settings) -> None:
        self._collection, self._folder, self._weights = collection, generation, settings.ranking
        self.generation = number_of(generation)
        facts = facts_of(generation)
        require_whole(generation, facts)
        self.documents = int(facts["documents"])
        self._prior_strength = float(facts["prior_strength"])
        with self._naming_damage():
            self._index = Index.open(str(generation / "tantivy"))
            self._searcher = self._index.searcher()
            if self._index.schema != schema() or self._searcher.num_docs != self.documents:
                raise ValueError("its fields or documents are not those that were published")
        self._ranks: Numbers = load_array(generation / RANKS, np.float32, self.documents).astype(np.float64)
        self._qualities = _qualities(generation, self.documents)
        self._hosts = load_array(generation / HOSTS, np.uint64, self.documents)
        register(self._index)
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
        if page < 1 or size < 1:
            raise UsageError("pages and their size are counted from 1")
        started = time.perf_counter()
        query = query.encode("utf-8", "replace").decode()  # half a character can be neither sought nor shown
        parsed = parse_query(query)
        hints, steps = list(parsed.hints), {"parse": time.perf_counter() - started}
        total, hits = 0, tuple[Hit, ...]()
        if parsed.root is not None:
            asked = _Asked(parsed.root, page, size, _wanted(parsed.root), hints, steps)
            found, total = self._answer(asked, Mode(mode))
            with asked.step("snippets"):
                hits = tuple(self._hit(one, asked, explain=explain) for one in found)
        seconds = time.perf_counter() - started
        return Results(query, parsed.understood, total, True, seconds, page, size, hits, tuple(hints), steps)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        head = self._find(url)
        if head is None or head.archive is None:
            return None
        response = read_response(self._collection.archive, head.archive)
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, _charset(response.headers))

    # -- the three stages ---------------------------------------------------------------------------------------

    def _answer(self, asked: _Asked, mode: Mode) -> tuple[list[_Found], int]:
        """The page that is asked for, and how much there is in all."""
        loose = loosened(asked.root)
        found, total = self._ranked(loose if mode is Mode.OR else asked.root, asked)
        if mode is Mode.AUTO and total < _FEW and loose != asked.root:
            some, total_with_some = self._ranked(loose, asked, found)
            if total_with_some > total:
                asked.hints.append(f"{_pages(total)} all words; pages that hold some of them follow.")
                found, total = found + [one._replace(all_words=False) for one in some], total_with_some
        if not total and _only_common_words(asked):
            asked.hints.append("No word of the query can be looked for: they are marks, or words that every page has.")
        shown = found[asked.depth - asked.size : asked.depth]
        return self._marked(shown, asked.root) if mode is Mode.OR and loose != asked.root else shown, total

    def _ranked(self, node: Node, asked: _Asked, before: Sequence[_Found] = ()) -> tuple[list[_Found], int]:
        """What a query matches, in order, as far as the page reaches; without those that stand *before* it."""
        with asked.step("candidates"):
            query = self._compiler.compile(node)
            if query is None:
                return [], 0
            block = self._weights.candidates
            numbers, texts, total = self._candidates(query, -(-asked.depth // block) * block)
        ranked = list(before)
        known = {one.number for one in before}
        for start in range(0, len(numbers), block):
            with asked.step("numbers"):
                found = self._by_numbers(numbers[start : start + block], texts[start : start + block])
            if start == 0:
                with asked.step("words"):
                    found = self._by_words(found, asked)
            ranked += self._spread([one for one in found if one.number not in known], asked, ranked)
        return ranked[len(before) :], total

    def _spread(self, found: list[_Found], asked: _Asked, before: list[_Found]) -> list[_Found]:
        """As much as the page needs, with no host taking too much of it."""
        room = asked.depth - len(before)
        if _restricts_site(asked.root):
            return found[:room]
        return list(
            islice(limit_per_host(found, lambda one: one.host, self._weights.per_host, asked.size, before), room)
        )

    def _candidates(self, query: Query, limit: int) -> tuple[NDArray[np.int64], Numbers, int]:
        with self._naming_damage():
            result = self._searcher.search(query, limit, weight_by_field=PRIOR)
            found = self._searcher.fast_field_values(NUMBER, [address for _, address in result.hits])
            numbers = np.array(found, np.int64)
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self.documents:
                raise ValueError("it names documents that it does not hold")
        weighted = np.array([score for score, _ in result.hits], np.float64)
        # tantivy multiplied by the stored prior; dividing gives the text score back, so that fresh ranks can be used.
        texts = weighted / prior_factor(self._ranks[numbers], self._prior_strength)
        return numbers, texts, result.count  # type: ignore[attr-defined]  # missing in its stubs

    def _by_numbers(self, numbers: NDArray[np.int64], texts: Numbers) -> list[_Found]:
        order = np.lexsort((numbers, -by_numbers(texts, self._ranks[numbers], self._qualities[numbers], self._weights)))
        columns = (numbers[order], texts[order], self._hosts[numbers[order]])
        return list(map(_Found, *(column.tolist() for column in columns)))

    def _by_words(self, found: list[_Found], asked: _Asked) -> list[_Found]:
        closely, others = found[: self._weights.read_closely], found[self._weights.read_closely :]
        scores = {one.number: sum(self._read(one, asked)[1].values()) for one in closely}
        return sorted(closely, key=lambda one: (-scores[one.number], one.number)) + others

    def _read(self, one: _Found, asked: _Asked) -> tuple[Head, dict[str, float]]:
        """What is on a page, and what each feature of it adds to its score."""
        if one.number not in asked.read:
            head = self._pages.head(one.number)
            wanted = asked.wanted[language_of(head.language)]
            rank, quality = float(self._ranks[one.number]), float(self._qualities[one.number])
            parts = contributions(one.text, rank, quality, head, wanted, self._weights)
            asked.read[one.number] = head, parts
        return asked.read[one.number]

    # -- what is shown ------------------------------------------------------------------------------------------

    def _hit(self, one: _Found, asked: _Asked, *, explain: bool) -> Hit:
        head, parts = self._read(one, asked)
        wanted = asked.wanted[language_of(head.language)]
        snippet = make_snippet(self._pages.text(one.number), head.description, wanted)
        return Hit(
            url=head.url,
            title=head.title or head.url,
            snippet=snippet.text,
            highlights=snippet.highlights,
            score=sum(parts.values()),
            host=head.host,
            fetched_at=head.fetched_at,
            mime=head.mime,
            language=head.language,
            same_content=head.same_content,
            all_words=one.all_words,
            explain=parts if explain else {},
        )

    def _marked(self, shown: list[_Found], root: Node) -> list[_Found]:
        """The same, each with whether it holds all words."""
        strict = self._compiler.compile(root)
        if strict is None or not shown:
            return shown
        among = Query.term_set_query(self._index.schema, NUMBER, [one.number for one in shown])
        query = Query.boolean_query([(Occur.Must, strict), (Occur.Must, among)])
        complete = set(self._candidates(query, len(shown))[0].tolist())
        return [one._replace(all_words=one.number in complete) for one in shown]

    def _find(self, url: str) -> Head | None:
        query = Query.term_query(self._index.schema, URL_ID, url_id(url).hex())
        numbers, _, _ = self._candidates(query, 1)
        return self._pages.head(int(numbers[0])) if len(numbers) else None

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        """What the libraries say about a damaged file, in our words."""
        try:
            yield
        except (ValueError, TypeError, OSError) as error:
            raise DamagedFile(f"{self._folder} is damaged", str(error)[:200], REBUILD) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # tantivy gave up; its class cannot be imported
                raise
            raise DamagedFile(f"{self._folder} is damaged", str(error)[:200], REBUILD) from error


def _qualities(generation: Path, documents: int) -> Numbers:
    """How good every document looks; generations of earlier releases do not know."""
    path = generation / QUALITIES
    if not path.exists():
        return np.full(documents, MIDDLING)
    return load_array(path, np.float32, documents).astype(np.float64)


def _wanted(root: Node) -> dict[str, QueryWords]:
    text = " ".join(wanted_words(root))
    return {language: QueryWords(text, language) for language in LANGUAGES}


def _only_common_words(asked: _Asked) -> bool:
    return bool(wanted_words(asked.root)) and not all(wanted.sequence for wanted in asked.wanted.values())


def _restricts_site(node: Node) -> bool:
    match node:
        case Site():
            return True
        case And(nodes) | Or(nodes):
            return any(map(_restricts_site, nodes))
        case _:
            return False


def _pages(count: int) -> str:
    return "No page holds" if count == 0 else "Only 1 page holds" if count == 1 else f"Only {count} pages hold"


def _charset(headers: dict[str, str]) -> str:
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""

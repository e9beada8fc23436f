"""Runs a query: selects candidate pages, scores them, and returns one page of results with snippets.

There are three stages. tantivy selects candidates by text score times a PageRank prior. Then text score, rank and
quality order all candidates. Then the best candidates get bonuses for query words in their title, headings and URL. A
page of results is a slice of that list, so pages never overlap.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
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
from periplus.errors import DamagedFile, NoIndex, UsageError
from periplus.index.arrays import load_array
from periplus.index.forward import ForwardIndex
from periplus.index.pagestore import Head, PageStore
from periplus.index.schema import (
    HOSTS,
    NUMBER,
    PRIOR,
    QUALITIES,
    RANKS,
    URL_ID,
    prior_factor,
    schema,
)
from periplus.model import CachedPage, Hit, Results
from periplus.search.background_check import BackgroundCheck
from periplus.search.compile import Compiler
from periplus.search.host_limit import limit_per_host
from periplus.search.match_positions import QueryWords
from periplus.search.options import read_options
from periplus.search.query import parse_query
from periplus.search.query_language import query_language
from periplus.search.query_tree import And, Node, Or, Site, loosened, wanted_words
from periplus.search.score import NEUTRAL_QUALITY, Numbers, by_numbers, contributions
from periplus.search.snippet import Shown, Snippet, make_snippets
from periplus.store.archive import read_response
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations
from periplus.text.analyzer import language_of, register
from periplus.url import url_id

_FEW_PAGES = 10  # with fewer pages that have all words, partial matches follow
_SMALLEST_SHARE = 0.05  # of the candidates, for a language
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


class Mode(StrEnum):
    """How many of the words a page must have."""

    AUTO = "auto"  # all words; when fewer than ten pages match, partial matches follow
    AND = "and"
    OR = "or"


class _Candidate(NamedTuple):
    """A page that matches the query."""

    number: int  # of the document in the index
    text: float  # text score
    host: int
    all_words: bool = True


class _Found(NamedTuple):
    """Matches of a query, best first, and how many there are in all."""

    numbers: NDArray[np.int64]
    texts: Numbers
    total: int


@dataclass(frozen=True, slots=True)
class _Search:
    """The state of one search, shared by its stages."""

    root: Node
    page: int
    size: int
    wanted: dict[str, QueryWords]  # by language
    ignored: frozenset[str]  # stop words
    hints: list[str]
    steps: dict[str, float] = field(default_factory=dict)
    scored: dict[int, tuple[Head, dict[str, float]]] = field(default_factory=dict)  # head and features, by number

    @property
    def depth(self) -> int:
        """The number of results up to the end of this page."""
        return self.page * self.size

    def wanted_in(self, language: str) -> QueryWords:
        """The query words for a page in this language."""
        return self.wanted[language_of(language)]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measures a step; the times of a repeated step add up."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.steps[name] = self.steps.get(name, 0.0) + time.perf_counter() - started


class SearchEngine:
    """Searches one open generation of the index; safe to share between threads, never writes."""

    def __init__(self, collection: Collection, generation: Generation, settings: Settings) -> None:
        """The engine closes the generation when it is closed itself."""
        self._collection, self._open_generation, self._weights = collection, generation, settings.ranking
        self._folder, self.generation = generation.folder, generation.number
        large_files = generation.check_on_opening()
        self.documents = int(generation.meta["documents"])
        self._prior_strength = float(generation.meta["prior_strength"])
        languages: dict[str, int] = generation.meta["languages"]  # number of pages by language
        with self._damage_reported():
            self._index = Index.open(str(self._folder / "tantivy"))
            self._searcher = self._index.searcher()
            if self._index.schema != schema(languages) or self._searcher.num_docs != self.documents:
                raise ValueError("its fields or its number of documents are wrong")
        self._ranks: Numbers = load_array(self._folder / RANKS, np.float32, self.documents).astype(np.float64)
        self._qualities = _qualities(self._folder, self.documents)
        self._hosts = load_array(self._folder / HOSTS, np.uint64, self.documents)
        register(self._index)
        self._compilers = {
            language: Compiler(self._index.schema, self._weights, language, count / max(self.documents, 1))
            for language, count in languages.items()
        }
        self._pages = PageStore(self._folder)
        self._forward = ForwardIndex(self._folder)
        self._check = BackgroundCheck(large_files)

    @classmethod
    def open(cls, collection: Collection, settings: Settings) -> SearchEngine:
        """Opens the live generation of a collection."""
        generation = Generations(collection.index, INDEX_KIND).open_live()
        if generation is None:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
        try:
            return cls(collection, generation, settings)
        except BaseException:
            generation.close()
            raise

    def close(self) -> None:
        """Closes the files."""
        self._check.stop()
        self._pages.close()
        self._open_generation.close()

    @property
    def is_damaged(self) -> bool:
        """Whether the check of the large files has found damage so far."""
        return self._check.damage is not None

    def damage(self, wait_seconds: float = 0.0) -> DamagedFile | None:
        """The damage that the check of the large files has found; waits for the rest of that check."""
        self._check.wait(wait_seconds)
        return self._check.damage

    def search(
        self, query: str, *, page: int = 1, size: int = 15, explain: bool = False, mode: str = Mode.AUTO
    ) -> Results:
        """Returns one page of results; any text is a valid query."""
        if page < 1 or size < 1:
            raise UsageError("page and size must be at least 1")
        started = time.perf_counter()
        query = query.encode("utf-8", "replace").decode()  # a lone surrogate becomes a question mark
        parsed = read_options(parse_query(query), self._count)
        hints, steps = list(parsed.hints), {"parse": time.perf_counter() - started}
        total, hits = 0, tuple[Hit, ...]()
        if parsed.root is not None:
            ignored = query_language(parsed.root, self._compilers, self._forward.lexicon).ignored
            wanted = _wanted(parsed.root, ignored, self._compilers)
            search = _Search(parsed.root, page, size, wanted, ignored, hints, steps)
            shown, total = self._page(search, Mode(mode))
            with search.step("snippets"):
                hits = self._hits(shown, search, explain=explain)
        seconds = time.perf_counter() - started
        found = (hits, tuple(hints), steps, parsed.excluded)
        return Results(query, parsed.understood, total, True, seconds, page, size, *found)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        number = self._find(url)
        archive = self._pages.details(number).archive if number is not None else None
        if number is None or archive is None:
            return None
        head, response = self._pages.head(number), read_response(self._collection.archive, archive)
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, _charset(response.headers))

    # -- the three stages ---------------------------------------------------------------------------------------

    def _page(self, search: _Search, mode: Mode) -> tuple[list[_Candidate], int]:
        """The candidates of the requested page, and the total number of matches."""
        loose = loosened(search.root)
        found, total = self._ranked(loose if mode is Mode.OR else search.root, search)
        if mode is Mode.AUTO and total < _FEW_PAGES and loose != search.root:
            partial, total_with_partial = self._ranked(loose, search, found)
            if total_with_partial > total:
                search.hints.append(f"{_pages(total)} all your words. Partial matches follow.")
                found += [candidate._replace(all_words=False) for candidate in partial]
                total = total_with_partial
        if not total and _only_punctuation(search):
            search.hints.append("The query has only punctuation. Add a word.")
        shown = found[search.depth - search.size : search.depth]
        return self._with_all_words(shown, search) if mode is Mode.OR and loose != search.root else shown, total

    def _ranked(self, node: Node, search: _Search, before: Sequence[_Candidate] = ()) -> tuple[list[_Candidate], int]:
        """The matches of a query in order, up to the end of the page and without those in *before*; and their total."""
        with search.step("candidates"):
            block = self._weights.candidates
            numbers, texts, total = self._candidates(node, search.ignored, -(-search.depth // block) * block)
        ranked = list(before)
        known = {candidate.number for candidate in before}
        for start in range(0, len(numbers), block):
            with search.step("numbers"):
                found = self._by_numbers(numbers[start : start + block], texts[start : start + block])
            if start == 0:
                with search.step("words"):
                    found = self._by_words(found, search)
            ranked += self._host_limited([one for one in found if one.number not in known], search, ranked)
        return ranked[len(before) :], total

    def _host_limited(self, found: list[_Candidate], search: _Search, before: list[_Candidate]) -> list[_Candidate]:
        """The candidates that fit on the page after *before*, with the limit per host."""
        room = search.depth - len(before)
        if _restricts_site(search.root):
            return found[:room]
        per_host = self._weights.per_host
        return list(islice(limit_per_host(found, lambda one: one.host, per_host, search.size, before), room))

    def _candidates(self, node: Node, ignored: frozenset[str], limit: int) -> _Found:
        """The best matches of all languages; every language gets its share."""
        compiled = [compiler.compile(node, ignored) for compiler in self._compilers.values()]
        queries = [query for query in compiled if query is not None]
        return _merged([self._matches(query, limit) for query in queries], limit)

    def _count(self, node: Node) -> int:
        """The number of pages that match a query."""
        return self._candidates(node, frozenset(), 1).total

    def _matches(self, query: Query, limit: int) -> _Found:
        with self._damage_reported():
            result = self._searcher.search(query, limit, weight_by_field=PRIOR)
            found = self._searcher.fast_field_values(NUMBER, [address for _, address in result.hits])
            numbers = np.array(found, np.int64)
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self.documents:
                raise ValueError("it refers to documents that do not exist")
        weighted = np.array([score for score, _ in result.hits], np.float64)
        # tantivy multiplied the text score by the stored prior; divide by it to use the current ranks instead.
        texts = weighted / prior_factor(self._ranks[numbers], self._prior_strength)
        return _Found(numbers, texts, result.count)  # type: ignore[attr-defined]  # missing in its stubs

    def _by_numbers(self, numbers: NDArray[np.int64], texts: Numbers) -> list[_Candidate]:
        order = np.lexsort((numbers, -by_numbers(texts, self._ranks[numbers], self._qualities[numbers], self._weights)))
        columns = (numbers[order], texts[order], self._hosts[numbers[order]])
        return list(map(_Candidate, *(column.tolist() for column in columns)))

    def _by_words(self, found: list[_Candidate], search: _Search) -> list[_Candidate]:
        best, others = found[: self._weights.read_closely], found[self._weights.read_closely :]
        scores = {one.number: sum(self._scored(one, search)[1].values()) for one in best}
        return sorted(best, key=lambda one: (-scores[one.number], one.number)) + others

    def _scored(self, one: _Candidate, search: _Search) -> tuple[Head, dict[str, float]]:
        """The head of a page, and the contribution of each feature to its score."""
        if one.number not in search.scored:
            head = self._pages.head(one.number)
            wanted = search.wanted_in(head.language)
            rank, quality = float(self._ranks[one.number]), float(self._qualities[one.number])
            parts = contributions(one.text, rank, quality, head, wanted, self._weights)
            search.scored[one.number] = head, parts
        return search.scored[one.number]

    # -- results ------------------------------------------------------------------------------------------------

    def _hits(self, shown: list[_Candidate], search: _Search, *, explain: bool) -> tuple[Hit, ...]:
        words = [word for word in wanted_words(search.root) if word not in search.ignored]
        pages = [Shown(one.number, self._scored(one, search)[0], self._pages.text(one.number)) for one in shown]
        snippets = make_snippets(pages, words, self._forward)
        found = zip(shown, snippets, strict=True)
        return tuple(self._hit(one, snippet, search, explain=explain) for one, snippet in found)

    def _hit(self, one: _Candidate, snippet: Snippet, search: _Search, *, explain: bool) -> Hit:
        head, parts = self._scored(one, search)
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
            same_content=self._pages.details(one.number).same_content,
            all_words=one.all_words,
            explain=parts if explain else {},
        )

    def _with_all_words(self, shown: list[_Candidate], search: _Search) -> list[_Candidate]:
        """The same candidates with `all_words` set."""
        among = Query.term_set_query(self._index.schema, NUMBER, [one.number for one in shown])
        complete: set[int] = set()
        for compiler in self._compilers.values() if shown else ():
            if (strict := compiler.compile(search.root, search.ignored)) is not None:
                query = Query.boolean_query([(Occur.Must, strict), (Occur.Must, among)])
                complete.update(self._matches(query, len(shown)).numbers.tolist())
        return [one._replace(all_words=one.number in complete) for one in shown]

    def _find(self, url: str) -> int | None:
        query = Query.term_query(self._index.schema, URL_ID, url_id(url).hex())
        numbers = self._matches(query, 1).numbers
        return int(numbers[0]) if len(numbers) else None

    @contextmanager
    def _damage_reported(self) -> Iterator[None]:
        """Turns exceptions of the libraries about a damaged file into `DamagedFile`."""
        try:
            yield
        except (ValueError, TypeError, OSError) as error:
            raise DamagedFile(f"{self._folder} is damaged", str(error)[:200]) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # a panic in tantivy; its class cannot be imported
                raise
            raise DamagedFile(f"{self._folder} is damaged", str(error)[:200]) from error


def _qualities(generation: Path, documents: int) -> Numbers:
    """The quality of every document; neutral in generations of earlier releases, which have no such file."""
    path = generation / QUALITIES
    if not path.exists():
        return np.full(documents, NEUTRAL_QUALITY)
    return load_array(path, np.float32, documents).astype(np.float64)


def _merged(found: list[_Found], limit: int) -> _Found:
    """The matches of several languages as one list.

    tantivy cannot compare scores of different languages. So a language gets as many places in every part of the list as
    its share of all matches, but at least one in twenty.
    """
    if not found:
        return _Found(np.zeros(0, np.int64), np.zeros(0), 0)
    total = sum(one.total for one in found)
    places = [np.arange(1, len(one.numbers) + 1) / max(one.total / max(total, 1), _SMALLEST_SHARE) for one in found]
    order = np.argsort(np.concatenate(places), kind="stable")
    numbers = np.concatenate([one.numbers for one in found])[order]
    # In an index by an earlier release, a page may match in both languages by the words of its URL.
    once = np.sort(np.unique(numbers, return_index=True)[1])[:limit]
    return _Found(numbers[once], np.concatenate([one.texts for one in found])[order][once], total)


def _wanted(root: Node, ignored: frozenset[str], languages: Iterable[str]) -> dict[str, QueryWords]:
    text = " ".join(word for word in wanted_words(root) if word not in ignored)
    return {language: QueryWords(text, language) for language in languages}


def _only_punctuation(search: _Search) -> bool:
    return bool(wanted_words(search.root)) and not any(wanted.sequence for wanted in search.wanted.values())


def _restricts_site(node: Node) -> bool:
    match node:
        case Site():
            return True
        case And(nodes) | Or(nodes):
            return any(map(_restricts_site, nodes))
        case _:
            return False


def _pages(count: int) -> str:
    return "No page has" if count == 0 else "Only 1 page has" if count == 1 else f"Only {count} pages have"


def _charset(headers: dict[str, str]) -> str:
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""

"""Runs a query: selects candidate pages, scores them, and returns one page of results with snippets.

There are three stages. tantivy selects candidates. Features of all candidates, from the forward index, give their
scores. The best get snippets. A page of results is a slice of one list, so pages never overlap.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from tantivy import Query

from periplus.config import Settings
from periplus.errors import DamagedFile, NoIndex, UsageError
from periplus.index.pagestore import Head
from periplus.index.phrases import Phrases
from periplus.model import (
    CachedPage,
    CollectionFacts,
    Explanation,
    FacetCounts,
    FeatureRow,
    FeatureTable,
    Hit,
    Results,
)
from periplus.search.candidates import CandidateFinder, Candidates
from periplus.search.completion import Completer, Suggestion
from periplus.search.correction import corrected
from periplus.search.explanation import explanation
from periplus.search.facets import FacetCounter
from periplus.search.facts import collection_facts
from periplus.search.features import FeatureRows
from periplus.search.open_index import Numbers, OpenIndex
from periplus.search.options import read_options
from periplus.search.query import parse_query
from periplus.search.query_language import QueryLanguage, query_language
from periplus.search.query_terms import QueryTerms
from periplus.search.query_tree import Node, Word, loosened, restricts_site, wanted_words, widened
from periplus.search.related import HITS_READ, page_words, related_searches
from periplus.search.score import FEATURES, contributions, crowding, feature_matrix, weight_vector
from periplus.search.snippet import Shown, Snippet, make_snippets
from periplus.search.word_forms import WordForms
from periplus.store.archive import read_response
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations
from periplus.text.analyzer import language_of

_CACHED_FACETS = 1_000  # queries; some 2 kB each
_EXPLAINED = 10_000  # results that are searched for the page to explain: more than the site shows
_DAY = 86_400.0  # seconds
_MISSING_WORDS = 8  # words of a query that are looked up on partial matches
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


class Mode(StrEnum):
    """How many of the words a page must have."""

    AUTO = "auto"  # any; pages with more of the query come first
    AND = "and"
    OR = "or"


class Scored(NamedTuple):
    """A page that matches the query."""

    number: int  # of the document in the index
    host: int
    features: Numbers  # in the order of `FEATURES`
    crowding: float  # what it loses to better results of its host


@dataclass(frozen=True, slots=True)
class _Search:
    """The state of one search, shared by its stages."""

    root: Node
    node: Node  # what candidates must match
    words: list[str]  # to find; without the ignored ones
    variants: dict[str, list[str]]  # other right spellings of words, such as American for British
    language: QueryLanguage
    all_words: Query  # matches pages that match `root`
    steps: dict[str, float]

    def step(self, name: str) -> AbstractContextManager[None]:
        """Measures a step."""
        return _timed(self.steps, name)


@contextmanager
def _timed(steps: dict[str, float], name: str) -> Iterator[None]:
    """Measures a step; the times of a repeated step add up."""
    started = time.perf_counter()
    try:
        yield
    finally:
        steps[name] = steps.get(name, 0.0) + time.perf_counter() - started


class SearchEngine:
    """Searches one open generation of the index; safe to share between threads, never writes."""

    fingerprint = ""  # a site over this engine computes every answer anew

    def __init__(self, collection: Collection, generation: Generation, settings: Settings) -> None:
        """The engine closes the generation when it is closed itself."""
        self._collection, self._weights = collection, settings.ranking
        self.index = OpenIndex(generation)
        self.generation, self.documents = self.index.number, self.index.documents
        self._finder = CandidateFinder(self.index, self._weights)
        self._speller = self.index.speller()
        self._phrases = Phrases(self.index.folder)
        self._facts: CollectionFacts | None = None
        self._completer = Completer(self._phrases, self.index.forward.lexicon)
        self._facets = FacetCounter(self.index)
        self._cached_facets = lru_cache(_CACHED_FACETS)(self._count_facets)

    @classmethod
    def open(cls, collection: Collection, settings: Settings) -> SearchEngine:
        """Opens the live generation of a collection."""
        generation = Generations(collection.index, INDEX_KIND).open_live()
        if generation is None:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
        with ExitStack() as undo:
            undo.callback(generation.close)
            engine = cls(collection, generation, settings)
            undo.pop_all()
        return engine

    def close(self) -> None:
        """Closes the files."""
        self.index.close()

    @property
    def is_damaged(self) -> bool:
        """Whether the check of the large files has found damage so far."""
        return self.index.check.damage is not None

    def damage(self, wait_seconds: float = 0.0) -> DamagedFile | None:
        """The damage that the check of the large files has found; waits for the rest of that check."""
        self.index.check.wait(wait_seconds)
        return self.index.check.damage

    def search(
        self,
        query: str,
        *,
        page: int = 1,
        size: int = 15,
        explain: bool = False,
        mode: str = Mode.AUTO,
        verbatim: bool = False,
    ) -> Results:
        """Returns one page of results; any text is a valid query. *verbatim*: without spelling correction."""
        if page < 1 or size < 1:
            raise UsageError("page and size must be at least 1")
        started = time.perf_counter()
        query = _valid_text(query)
        parsed = read_options(parse_query(query), self._count)
        results = Results(
            query=query,
            understood=parsed.understood,
            total=0,
            total_is_exact=True,
            seconds=0.0,
            page=page,
            size=size,
            hits=(),
            hints=parsed.hints,
            steps={"parse": time.perf_counter() - started},
            excluded=parsed.excluded,
        )
        if parsed.root is not None:
            results = self._answered(results, parsed.root, Mode(mode), explain=explain, verbatim=verbatim)
        return replace(results, seconds=time.perf_counter() - started)

    def _answered(self, empty: Results, root: Node, mode: Mode, *, explain: bool, verbatim: bool) -> Results:
        """The results of a query; *empty*: the same without results."""
        search, last = self._begin(root, mode, empty.steps), empty.page * empty.size
        with search.step("spelling"):
            other = None if verbatim else corrected(root, self._speller, self._count)
        if other is not None and other.is_used:
            search = self._begin(other.root, mode, empty.steps)
        found, total = self._ranked(search, last)
        with search.step("counts"):
            shown = found[last - empty.size : last]
            complete, whole = self._with_all_words(search, shown, total)
            hints, left_out = _hints(search, total), _left_out(search)
        with search.step("snippets"):
            hits = self._hits(shown, whole, search, explain=explain)
        return replace(
            empty,
            total=total,
            hits=hits,
            hints=(*empty.hints, *hints),
            with_all_words=complete,
            corrected=str(other.root) if other and other.is_used else "",
            suggestion=str(other.root) if other and not other.is_used else "",
            left_out=left_out,
        )

    def features(self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False) -> list[Scored]:
        """The best results of a query with their features."""
        search = self._begun(query, mode, verbatim=verbatim)
        return self._ranked(search, most)[0][:most] if search else []

    def feature_table(self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False) -> FeatureTable:
        """The weights, and URL, score and features of the best results of a query."""
        weights = dict(zip(FEATURES, weight_vector(self._weights).tolist(), strict=True))
        found = self.features(query, most, mode=mode, verbatim=verbatim)
        return FeatureTable(weights, tuple(map(self._feature_row, found)))

    def facets(
        self, query: str, *, mode: str = Mode.AUTO, dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The number of results by language, type, site and date, without spelling correction."""
        return self._cached_facets(query, mode, tuple(dates), tuple(hosts))

    def _count_facets(self, query: str, mode: str, dates: tuple[str, ...], hosts: tuple[str, ...]) -> FacetCounts:
        search = self._begun(query, mode, verbatim=True)
        return self._facets.count(self._matching(search), dates, hosts) if search else FacetCounts()

    def count(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of results, without spelling correction."""
        search = self._begun(query, mode, verbatim=True)
        return self.index.count(self._matching(search)) if search else 0

    def explanation(self, query: str, url: str, *, mode: str = Mode.AUTO, verbatim: bool = False) -> Explanation | None:
        """Why the page is a result of the query; None when it is none of the best results."""
        search, number = self._begun(query, mode, verbatim=verbatim), self.index.find(url)
        if search is None or number is None:
            return None
        for depth in (1, _EXPLAINED):  # most results are in the first block
            found = next((one for one in self._ranked(search, depth)[0] if one.number == number), None)
            if found is not None:
                terms = QueryTerms(search.words, self.index.forward, search.language.possible, search.variants)
                return explanation(self.index, terms, found.number, found.features, found.crowding, self._weights)
        return None

    def page_words(self, url: str) -> list[str]:
        """The words that say most about a page; empty when the URL is not in the index."""
        number = self.index.find(url)
        return [] if number is None else page_words(self.index.forward, number)

    def candidates(self, query: str) -> Candidates | None:
        """The first block of candidates of a query, for other rankings to score; None when there is no match."""
        root = read_options(parse_query(query), self._count).root
        if root is None:
            return None
        search = self._begin(root, Mode.AUTO, {})
        return self._finder.selection(search.node, search.words, search.language).next()

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        number = self.index.find(url)
        archive = self.index.pages.details(number).archive if number is not None else None
        if number is None or archive is None:
            return None
        head, response = self.index.pages.head(number), read_response(self._collection.archive, archive)
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, charset_of(response.headers))

    def word_forms(self, query: str, language: str) -> WordForms | None:
        """Finds the words of a query in texts of a language; None for a query without words."""
        root = read_options(parse_query(_valid_text(query)), self._count).root
        if root is None:
            return None
        other = corrected(root, self._speller, self._count)
        words = self._begin(other.root if other and other.is_used else root, Mode.AUTO, {}).words
        return WordForms(words, language_of(language), self.index.forward)

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """Continuations of the typed text, best first."""
        with self.index.damage_reported():
            return self._completer.complete(_valid_text(typed), most)

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """Searches about the same subject, from titles and headings of pages found; *urls*: of these, best first."""
        root = parse_query(_valid_text(query)).root
        words = wanted_words(root) if root is not None else []
        found = (self.index.find(url) for url in urls[:HITS_READ]) if words else ()
        heads = [self.index.pages.head(number) for number in found if number is not None]
        if not heads:
            return []
        index, texts = self.index, [(head.title, *head.headings) for head in heads]
        language = heads[0].language if heads[0].language in index.languages else "en"
        return related_searches(words, texts, index.forward.lexicon, self._phrases, index.vectors, language)

    def facts(self) -> CollectionFacts:
        """How much the index holds and how fresh it is; computed once."""
        if self._facts is None:
            self._facts = collection_facts(self.index)
        return self._facts

    # -- the stages -----------------------------------------------------------------------------------------------

    def _begin(self, root: Node, mode: Mode, steps: dict[str, float]) -> _Search:
        with _timed(steps, "parse"):
            words = wanted_words(root)
            language = query_language(words, self.index)
            kept = [word for word in words if word not in language.ignored]
            variants = {word: self._speller.variants(word) for word in kept if word.isalpha()}
            node = root if mode is Mode.AND else widened(loosened(root), variants)
            return _Search(root, node, kept, variants, language, self._finder.matching(root, language), steps)

    def _begun(self, query: str, mode: str, *, verbatim: bool) -> _Search | None:
        """The first stage of a search; None when the query has no word to search for."""
        root = read_options(parse_query(_valid_text(query)), self._count).root
        if root is None:
            return None
        other = None if verbatim else corrected(root, self._speller, self._count)
        return self._begin(other.root if other and other.is_used else root, Mode(mode), {})

    def _matching(self, search: _Search) -> Query:
        """Matches all results of a search."""
        return self._finder.matching(search.node, search.language)

    def _count(self, root: Node) -> int:
        """The number of pages that match a query."""
        return self.index.count(self._finder.matching(root, query_language(wanted_words(root), self.index)))

    def _ranked(self, search: _Search, depth: int) -> tuple[list[Scored], int]:
        """The matches of a query in order, at least *depth* of them as long as there are more; and their number."""
        with search.step("terms"):
            terms = QueryTerms(search.words, self.index.forward, search.language.possible, search.variants)
        ranked: list[Scored] = []
        with search.step("candidates"):
            selection = self._finder.selection(search.node, search.words, search.language)
        while len(ranked) < depth:
            with search.step("candidates"):
                block = selection.next()
            if block is None:
                break
            with search.step("features"):
                ranked += self._scored(block, terms, crowded=not restricts_site(search.root))
        return ranked, selection.total

    def _scored(self, block: Candidates, terms: QueryTerms, *, crowded: bool) -> list[Scored]:
        """The candidates of one block, best first; a query without words orders them by rank alone."""
        matrix = feature_matrix(FeatureRows(self.index, terms, block).compute())
        if not len(terms):
            matrix *= np.array([name == "rank" for name in FEATURES])
        scores = matrix @ weight_vector(self._weights)
        order = np.lexsort((block.numbers, -scores))
        hosts = self.index.hosts[block.numbers[order]].tolist()
        losses = np.array(crowding(hosts, self._weights) if crowded else [0.0] * len(hosts))
        order, losses = (part[np.argsort(-(scores[order] + losses), kind="stable")] for part in (order, losses))
        columns = (block.numbers[order].tolist(), self.index.hosts[block.numbers[order]].tolist())
        return list(map(Scored, *columns, matrix[order], losses.tolist()))

    # -- results --------------------------------------------------------------------------------------------------

    def _with_all_words(self, search: _Search, found: list[Scored], total: int) -> tuple[int, set[int]]:
        """The number of pages that match the query as a whole, and the numbers of those in *found*."""
        numbers = [one.number for one in found]
        if search.node == search.root:
            return total, set(numbers)
        return self.index.count_with(search.all_words, numbers)

    def _hits(self, found: list[Scored], whole: set[int], search: _Search, *, explain: bool) -> tuple[Hit, ...]:
        numbers = [one.number for one in found]
        pages = [Shown(number, self.index.pages.head(number), self.index.pages.text(number)) for number in numbers]
        snippets = make_snippets(pages, search.words, self.index.forward)
        missing = self._missing_words(search, [number for number in numbers if number not in whole])
        return tuple(
            self._hit(one, page.head, snippet, missing=missing.get(one.number), explain=explain)
            for one, page, snippet in zip(found, pages, snippets, strict=True)
        )

    def _missing_words(self, search: _Search, numbers: list[int]) -> dict[int, tuple[str, ...]]:
        """By page: the words that it lacks, in all their right spellings."""
        words = list(dict.fromkeys(search.words))[:_MISSING_WORDS]
        queries = [self._finder.matching(widened(Word(word), search.variants), search.language) for word in words]
        return {
            number: tuple(word for place, word in enumerate(words) if place not in found)
            for number, found in self.index.matched(queries, numbers).items()
        }

    def _feature_row(self, one: Scored) -> FeatureRow:
        features = dict(zip(FEATURES, one.features.tolist(), strict=True))
        score = sum(self._parts(one).values())
        return FeatureRow(self.index.pages.head(one.number).url, score, features, one.crowding)

    def _parts(self, one: Scored) -> dict[str, float]:
        return contributions(one.features, self._weights) | {"crowding": one.crowding}

    def _hit(self, one: Scored, head: Head, snippet: Snippet, *, missing: tuple[str, ...] | None, explain: bool) -> Hit:
        parts = self._parts(one)
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
            all_words=missing is None,
            missing=missing or (),
            date=_stated_date(head),
            explain=parts if explain else {},
        )


def _left_out(search: _Search) -> tuple[str, ...]:
    """The words of the query that the search ignores, in order."""
    return tuple(dict.fromkeys(word for word in wanted_words(search.root) if word in search.language.ignored))


def _hints(search: _Search, total: int) -> list[str]:
    is_word = any(character.isalnum() for word in search.words for character in word)
    return ["The query has only punctuation. Add a word."] if search.words and not total and not is_word else []


def _stated_date(head: Head) -> float | None:
    """The date that a page states; a date after the fetch is wrong.

    A page that was modified within a day before the fetch was probably generated for it.
    """
    published, modified = head.published, head.modified
    if published is not None:
        return published if published <= head.fetched_at else None
    return modified if modified is not None and modified <= head.fetched_at - _DAY else None


def _valid_text(query: str) -> str:
    """The query in valid Unicode: a lone surrogate becomes a question mark."""
    return query.encode("utf-8", "replace").decode()


def charset_of(headers: dict[str, str]) -> str:
    """The charset in the Content-Type header, or an empty string."""
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""

"""Runs a query: selects candidate pages, scores them, and returns one page of results with snippets.

There are three stages. tantivy selects candidates. Features of all candidates, from the forward index, give their
scores. The best get snippets. A page of results is a slice of one list, so pages never overlap.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache

from periplus.config import Settings
from periplus.errors import DamagedFile, NoIndex
from periplus.index.phrases import Phrases
from periplus.model import (
    CachedPage,
    CollectionFacts,
    Explanation,
    FacetCounts,
    FeatureRow,
    FeatureTable,
    FullText,
    MediaResults,
    Results,
    SiteBoosts,
)
from periplus.search.candidates import CandidateFinder, Candidates
from periplus.search.explanation import explanation
from periplus.search.facets import FacetCounter
from periplus.search.facts import collection_facts
from periplus.search.hits import HitMaker
from periplus.search.interpret import Interpreter, Mode, Search, checked_page, left_out_words, no_results, valid_text
from periplus.search.media import MediaSearch
from periplus.search.news import News
from periplus.search.open_index import OpenIndex
from periplus.search.query.parser import parse_query
from periplus.search.query.tree import Node, wanted_words
from periplus.search.ranking import Ranker, Scored, is_crowded
from periplus.search.score import FEATURES, weight_vector
from periplus.search.snippet import Shown, make_snippets
from periplus.search.suggest.completion import Completer, Suggestion
from periplus.search.suggest.related import HITS_READ, page_words, related_searches
from periplus.search.word_forms import WordForms
from periplus.store.archive_lookup import read_version
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations
from periplus.text.analyzer import language_of

_CACHED_FACETS = 1_000  # queries; some 2 kB each
_EXPLAINED = 10_000  # results that are searched for the page to explain: more than the site shows
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)


class SearchEngine:
    """Searches one open generation of the index; safe to share between threads, never writes."""

    fingerprint = ""  # a site over this engine computes every answer anew

    def __init__(self, collection: Collection, generation: Generation, settings: Settings) -> None:
        """The engine closes the generation when it is closed itself."""
        self._collection, self._weights = collection, settings.ranking
        self.index = OpenIndex(generation)
        self.generation, self.documents = self.index.number, self.index.documents
        self._finder = CandidateFinder(self.index, self._weights)
        self._interpreter = Interpreter(self.index, self._finder, self.index.speller())
        self._ranker = Ranker(self.index, self._finder, self._weights)
        self._hit_maker = HitMaker(self.index, self._finder, self._ranker)
        self._news = News(self.index, self._interpreter, self._hit_maker)
        self._phrases = Phrases(self.index.folder)
        self._facts: CollectionFacts | None = None
        self._completer = Completer(self._phrases, self.index.forward.lexicon)
        self._facets = FacetCounter(self.index)
        self._media = MediaSearch(self.index, self._interpreter, self._weights)
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
        site_boosts: SiteBoosts = (),
    ) -> Results:
        """Returns one page of results; any text is a valid query.

        *verbatim*: without spelling correction. *site_boosts*: points that the reader adds to the scores of sites.
        """
        checked_page(page, size)
        started, query = time.perf_counter(), valid_text(query)
        parsed = self._interpreter.parse(query)
        steps = {"parse": time.perf_counter() - started}
        results = replace(no_results(query, parsed, page, size), steps=steps)
        if parsed.root is not None:
            options = (Mode(mode), site_boosts)
            results = self._answered(results, parsed.root, *options, explain=explain, verbatim=verbatim)
        return replace(results, seconds=time.perf_counter() - started)

    def _answered(
        self, empty: Results, root: Node, mode: Mode, boosts: SiteBoosts, *, explain: bool, verbatim: bool
    ) -> Results:
        """The results of a query; *empty*: the same without results."""
        search, last = self._interpreter.begin(root, mode, empty.steps), empty.page * empty.size
        with search.step("spelling"):
            other = None if verbatim else self._interpreter.correct(root)
        if other is not None and other.is_used:
            search = self._interpreter.begin(other.root, mode, empty.steps)
        found, total = self._ranker.ranked(search, last, boosts)
        with search.step("counts"):
            shown = found[last - empty.size : last]
            complete, whole = self._hit_maker.with_all_words(search, shown, total)
            hints, left_out = _hints(search, total), left_out_words(search)
        with search.step("snippets"):
            hits = self._hit_maker.hits(shown, whole, search, explain=explain)
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

    def features(
        self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> list[Scored]:
        """The best results of a query with their features."""
        search = self._interpreter.begun(query, mode, verbatim=verbatim)
        return self._best(search, most, site_boosts) if search else []

    def _best(self, search: Search, most: int, site_boosts: SiteBoosts = ()) -> list[Scored]:
        return self._ranker.ranked(search, most, site_boosts)[0][:most]

    def feature_table(
        self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> FeatureTable:
        """The weights, and URL, score and features of the best results of a query."""
        weights = dict(zip(FEATURES, weight_vector(self._weights).tolist(), strict=True))
        search = self._interpreter.begun(query, mode, verbatim=verbatim)
        return FeatureTable(
            weights,
            tuple(map(self._feature_row, self._best(search, most, site_boosts) if search else ())),
            crowding=self._weights.crowding,
            per_host=self._weights.per_host,
            is_crowded=search is None or is_crowded(search),
        )

    def facets(
        self, query: str, *, mode: str = Mode.AUTO, dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The number of results by language, type, site and date, without spelling correction."""
        return self._cached_facets(query, mode, tuple(dates), tuple(hosts))

    def _count_facets(self, query: str, mode: str, dates: tuple[str, ...], hosts: tuple[str, ...]) -> FacetCounts:
        search = self._interpreter.begun(query, mode, verbatim=True)
        return self._facets.count(self._interpreter.matching(search), dates, hosts) if search else FacetCounts()

    def count(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of results, without spelling correction."""
        search = self._interpreter.begun(query, mode, verbatim=True)
        return self.index.count(self._interpreter.matching(search)) if search else 0

    def with_all_words(self, query: str, numbers: Sequence[int]) -> list[int]:
        """Those of the documents with these numbers that match the query as a whole, without spelling correction."""
        search = self._interpreter.begun(query, Mode.AND, verbatim=True)
        return self.index.among(search.all_words, numbers) if search else []

    def snippet(self, query: str, number: int) -> str:
        """The snippet of a document for a query."""
        search, pages = self._interpreter.begun(query, Mode.AND, verbatim=True), self.index.pages
        shown = Shown(number, pages.head(number), pages.text(number))
        return make_snippets([shown], search.words if search else [], self.index.forward)[0].text

    def news(
        self, query: str, *, page: int = 1, size: int = 15, mode: str = Mode.AUTO, verbatim: bool = False
    ) -> Results:
        """One page of dated pages, newest first."""
        return self._news.search(query, page, size, Mode(mode), verbatim=verbatim)

    def count_news(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of dated pages, without spelling correction."""
        return self._news.count(query, Mode(mode))

    def media(self, query: str, kind: str, *, page: int = 1, size: int = 30, mode: str = Mode.AUTO) -> MediaResults:
        """One page of images or videos of pages in the index, without spelling correction."""
        return self._media.search(query, kind, page=page, size=size, mode=mode)

    def count_media(self, query: str, kind: str, *, mode: str = Mode.AUTO) -> int:
        """About how many images or videos match."""
        return self._media.count(query, kind, mode=mode)

    def explanation(
        self, query: str, url: str, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> Explanation | None:
        """Why the page is a result of the query; None when it is none of the best results."""
        search, number = self._interpreter.begun(query, mode, verbatim=verbatim), self.index.find(url)
        if search is None or number is None:
            return None
        for depth in (1, _EXPLAINED):  # most results are in the first block
            ranked, _ = self._ranker.ranked(search, depth, site_boosts)
            found = next((one for one in ranked if one.number == number), None)
            if found is not None:
                return explanation(self.index, self._ranker.terms(search), found, self._weights)
        return None

    def page_words(self, url: str) -> list[str]:
        """The words that say most about a page; empty when the URL is not in the index."""
        number = self.index.find(url)
        return [] if number is None else page_words(self.index.forward, number)

    def best_texts(self, query: str, most: int) -> list[FullText]:
        """The best results with their texts."""
        pages, numbers = self.index.pages, [one.number for one in self.features(query, most, verbatim=True)]
        heads = map(pages.head, numbers)
        return [
            FullText(head.url, head.host, head.title or head.url, head.language, pages.text(number))
            for head, number in zip(heads, numbers, strict=True)
        ]

    def candidates(self, query: str) -> Candidates | None:
        """The first block of candidates of a query, for other rankings to score; None when there is no match."""
        search = self._interpreter.begun(query, Mode.AUTO, verbatim=True)
        if search is None:
            return None
        return self._finder.selection(search.node, search.words, search.language).next()

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        number = self.index.find(url)
        archive = self.index.pages.details(number).archive if number is not None else None
        if number is None or archive is None:
            return None
        head = self.index.pages.head(number)
        response = read_version(self._collection, head.url, head.fetched_at, archive)
        if response is None:
            return None  # pruned
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, charset_of(response.headers))

    def word_forms(self, query: str, language: str) -> WordForms | None:
        """Finds the words of a query in texts of a language; None for a query without words."""
        search = self._interpreter.begun(query, Mode.AUTO, verbatim=False)
        return WordForms(search.words, language_of(language), self.index.forward) if search else None

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """Continuations of the typed text, best first."""
        with self.index.damage_reported():
            return self._completer.complete(valid_text(typed), most)

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """Searches about the same subject, from titles and headings of pages found; *urls*: of these, best first."""
        root = parse_query(valid_text(query)).root
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

    def _feature_row(self, one: Scored) -> FeatureRow:
        features = dict(zip(FEATURES, one.features.tolist(), strict=True))
        head, score = self.index.pages.head(one.number), sum(self._ranker.parts(one).values())
        return FeatureRow(
            head.url, score, features, one.crowding, head.title, head.host, one.number, one.block, one.preference
        )


def _hints(search: Search, total: int) -> list[str]:
    is_word = any(character.isalnum() for word in search.words for character in word)
    return ["The query has only punctuation. Add a word."] if search.words and not total and not is_word else []


def charset_of(headers: dict[str, str]) -> str:
    """The charset in the Content-Type header, or an empty string."""
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""

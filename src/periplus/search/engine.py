"""Runs a query: selects candidate pages, scores them, and returns one page of results with snippets.

There are three stages. Every shard of the index selects candidates with tantivy and computes their features from its
forward index. The features of all candidates give their scores. The shards of the best make their snippets. A page of
results is a slice of one list, so pages never overlap. An index without shards is one shard in this process.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TypeVar

from periplus.config import Settings
from periplus.errors import DamagedFile, NoIndex, ShardsUnavailable, UsageError
from periplus.index.storage.pagestore import Head
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
from periplus.search.explanation import explanation
from periplus.search.facets import Facets
from periplus.search.facts import collection_facts
from periplus.search.indexed_pages import IndexedPages
from periplus.search.interpret import Interpreter, Mode, Search, checked_page, left_out_words, no_results, valid_text
from periplus.search.media import MediaSearch
from periplus.search.missing_shards import CompleteCache, tracking_missing
from periplus.search.news import News
from periplus.search.open_index import CommonFiles, OpenIndex
from periplus.search.query.parser import parse_query
from periplus.search.query.tree import Node, wanted_words
from periplus.search.ranking import Ranker, Scored, is_crowded
from periplus.search.scoring.candidates import CandidateFinder, Candidates
from periplus.search.scoring.score import FEATURES, weight_vector
from periplus.search.shards.counts import ShardCounts
from periplus.search.shards.group import PAGE_UNAVAILABLE, TrackedShards
from periplus.search.shards.index_shard import IndexShard
from periplus.search.shards.open_shards import open_local
from periplus.search.shards.port import MatchSet, ShardGroup
from periplus.search.snippets.word_forms import WordForms
from periplus.search.suggest.completion import Completer, Suggestion
from periplus.search.suggest.related import HITS_READ, related_searches
from periplus.store.archive.archive_lookup import read_version
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.text.analyzer import language_of

_CACHED_FACETS = 1_000  # queries; some 2 kB each
_EXPLAINED = 10_000  # results that are searched for the page to explain: more than the site shows
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';,]+)""", re.IGNORECASE)
_Found = TypeVar("_Found", Results, MediaResults)
_FacetKey = tuple[str, str, tuple[str, ...], tuple[str, ...]]  # query, mode, dates, hosts


class SearchEngine:
    """Searches one open generation of the index, in one piece or in shards; safe to share between threads.

    It never writes.
    """

    fingerprint = ""  # a site over this engine computes every answer anew

    def __init__(
        self,
        collection: Collection,
        common: CommonFiles,
        group: ShardGroup,
        settings: Settings,
        shards: Sequence[IndexShard] = (),
    ) -> None:
        """Closes the group when it is closed itself; *shards*: those that are open in this process."""
        self._collection, self._weights, self._common, self._shards = collection, settings.ranking, common, shards
        self.generation, self.documents, self.folder = common.number, common.documents, common.folder
        self.sites, self.lexicon = common.sites, common.forward.lexicon
        self._group = TrackedShards(group)
        self.counts = ShardCounts(common, self._group)
        self._interpreter = Interpreter(self.counts, common.speller())
        self._ranker = Ranker(self._group, self.counts, self._weights)
        self.pages = IndexedPages(common, self._group)
        self._news = News(self._group, self.counts, self._interpreter, self._ranker)
        self._facts: CollectionFacts | None = None
        self._completer = Completer(common.phrases, self.lexicon)
        self._facets = Facets(self._group)
        self._media = MediaSearch(self._group, self.counts, self._interpreter)
        self._cached_facets = CompleteCache[_FacetKey, FacetCounts](_CACHED_FACETS)

    @classmethod
    def open(cls, collection: Collection, settings: Settings) -> SearchEngine:
        """Opens the live generation of a collection, with all its shards."""
        generation = Generations(collection.index, INDEX_KIND).open_live()
        if generation is None:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
        common, group, shards = open_local(generation, settings.ranking)
        with ExitStack() as undo:
            undo.callback(group.close)
            engine = cls(collection, common, group, settings, shards)
            undo.pop_all()
        return engine

    def close(self) -> None:
        """Closes the files."""
        self._group.close()

    @property
    def index(self) -> OpenIndex:
        """The open index of a generation without shards."""
        if self._common.shards or not self._shards:
            hint = "`periplus index --shards 1` builds one."
            raise UsageError("this needs an index without shards in this process", hint=hint)
        return self._shards[0].index

    @property
    def is_damaged(self) -> bool:
        """Whether the check of the large files has found damage so far."""
        return self._common.check.damage is not None

    def damage(self, wait_seconds: float = 0.0) -> DamagedFile | None:
        """The damage that the check of the large files has found; waits for the rest of that check."""
        self._common.check.wait(wait_seconds)
        return self._common.check.damage

    def _marked(self, found: _Found, missing: set[int]) -> _Found:
        """Results that name the shards without an answer; then all counts are lower bounds."""
        is_exact = found.total_is_exact and not missing
        shards = self._group.shards
        return replace(found, missing_shards=tuple(sorted(missing)), shards=shards, total_is_exact=is_exact)

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
        with tracking_missing() as missing:
            parsed = self._interpreter.parse(query)
            steps = {"parse": time.perf_counter() - started}
            results = replace(no_results(query, parsed, page, size), steps=steps)
            if parsed.root is not None:
                options = (Mode(mode), site_boosts)
                results = self._answered(results, parsed.root, *options, explain=explain, verbatim=verbatim)
        return self._marked(replace(results, seconds=time.perf_counter() - started), missing)

    def _answered(
        self, empty: Results, root: Node, mode: Mode, site_boosts: SiteBoosts, *, explain: bool, verbatim: bool
    ) -> Results:
        """The results of a query; *empty*: the same without results."""
        search, last = self._interpreter.begin(root, mode, empty.steps), empty.page * empty.size
        with search.step("spelling"):
            other = None if verbatim else self._interpreter.correct(root)
        if other is not None and other.is_used:
            search = self._interpreter.begin(other.root, mode, empty.steps)
        ranked = self._ranker.ranked(search, last, site_boosts)
        with search.step("counts"):
            hints, left_out = _hints(search, ranked.total), left_out_words(search)
        with search.step("snippets"):
            shown = ranked.found[last - empty.size : last]
            hits = self._ranker.hits(shown, search, MatchSet.RESULTS, explain=explain)
        return replace(
            empty,
            total=ranked.total,
            hits=hits,
            hints=(*empty.hints, *hints),
            with_all_words=ranked.with_all_words,
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
        return self._ranker.ranked(search, most, site_boosts).found[:most]

    def some_titles(self, most: int) -> list[str]:
        """Titles of pages from all parts of the index."""
        numbers = range(0, self._common.numbers, max(self._common.numbers // most, 1))
        found = self._group.ask(lambda shard: shard.heads(list(numbers))).values()
        return [head.title for heads in found for head in heads]

    def feature_table(
        self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> FeatureTable:
        """The weights, and URL, score and features of the best results of a query."""
        weights = dict(zip(FEATURES, weight_vector(self._weights).tolist(), strict=True))
        search = self._interpreter.begun(query, mode, verbatim=verbatim)
        found = self._best(search, most, site_boosts) if search else []
        heads = self.pages.heads(found)
        return FeatureTable(
            weights,
            tuple(self._feature_row(one, heads[one.number]) for one in found if one.number in heads),
            crowding=self._weights.crowding,
            per_host=self._weights.per_host,
            is_crowded=search is None or is_crowded(search),
        )

    def facets(
        self, query: str, *, mode: str = Mode.AUTO, dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The number of results by language, type, site and date, without spelling correction."""
        key = (query, mode, tuple(dates), tuple(hosts))
        return self._cached_facets.get(key, lambda: self._count_facets(*key))

    def _count_facets(self, query: str, mode: str, dates: tuple[str, ...], hosts: tuple[str, ...]) -> FacetCounts:
        search = self._interpreter.begun(query, mode, verbatim=True)
        return self._facets.count(self.counts.request(search), dates, hosts) if search else FacetCounts()

    def count(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of results, without spelling correction."""
        search = self._interpreter.begun(query, mode, verbatim=True)
        if search is None:
            return 0
        request = self.counts.request(search)
        return sum(self._group.ask(lambda shard: shard.count(request, MatchSet.RESULTS)).values())

    def with_all_words(self, query: str, numbers: Sequence[int]) -> list[int]:
        """Those of the documents with these numbers that match the query as a whole, without spelling correction."""
        search = self._interpreter.begun(query, Mode.AND, verbatim=True)
        if search is None:
            return []
        request = self.counts.request(search)
        found = self._group.ask(lambda shard: shard.among(request, numbers)).values()
        return [number for part in found for number in part]

    def snippet(self, query: str, number: int) -> str:
        """The snippet of a document for a query that it matches."""
        search = self._interpreter.begun(query, Mode.AND, verbatim=True)
        request = self.counts.request(search) if search else None
        if request is None:
            return ""
        found = self._group.ask(lambda shard: shard.hits(request, [number], MatchSet.WHOLE)).values()
        return next((hit.snippet for hits in found for hit in hits), "")

    def news(
        self, query: str, *, page: int = 1, size: int = 15, mode: str = Mode.AUTO, verbatim: bool = False
    ) -> Results:
        """One page of dated pages, newest first."""
        with tracking_missing() as missing:
            found = self._news.search(query, page, size, Mode(mode), verbatim=verbatim)
        return self._marked(found, missing)

    def count_news(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of dated pages, without spelling correction."""
        return self._news.count(query, Mode(mode))

    def media(self, query: str, kind: str, *, page: int = 1, size: int = 30, mode: str = Mode.AUTO) -> MediaResults:
        """One page of images or videos of pages in the index, without spelling correction."""
        with tracking_missing() as missing:
            found = self._media.search(query, kind, page=page, size=size, mode=mode)
        return self._marked(found, missing)

    def count_media(self, query: str, kind: str, *, mode: str = Mode.AUTO) -> int:
        """About how many images or videos match."""
        return self._media.count(query, kind, mode=mode)

    def explanation(
        self, query: str, url: str, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> Explanation | None:
        """Why the page is a result of the query; None when it is none of the best results."""
        search, number = self._interpreter.begun(query, mode, verbatim=verbatim), self.pages.find(url)
        if search is None or number is None:
            return None
        with tracking_missing() as missing:
            for depth in (1, _EXPLAINED):  # most results are in the first block
                ranked = self._ranker.ranked(search, depth, site_boosts).found
                found = next((one for one in ranked if one.number == number), None)
                if found is not None:
                    return self._explained(search, found)
        if self.pages.shard(url) in missing:
            raise ShardsUnavailable(PAGE_UNAVAILABLE)
        return None

    def _explained(self, search: Search, one: Scored) -> Explanation:
        request, page = self.counts.request(search), self.pages.page(one.number)
        words = self._group.ask_one(lambda shard: shard.words_in(request, one.number), one.shard)
        return explanation(page.head, one, words, self.pages.lower_ranks(page.rank), self._weights)

    def page_words(self, url: str) -> list[str]:
        """The words that say most about a page; empty when the URL is not in the index."""
        page = self.pages.of_url(url)
        return [] if page is None else page.words

    def best_texts(self, query: str, most: int) -> list[FullText]:
        """The best results with their texts."""
        found = self.features(query, most, verbatim=True)
        heads, texts = self.pages.heads(found), self.pages.texts(found)
        pages = [(heads[one.number], texts[one.number]) for one in found if one.number in heads.keys() & texts.keys()]
        return [FullText(head.url, head.host, head.title or head.url, head.language, text) for head, text in pages]

    def candidates(self, query: str) -> Candidates | None:
        """The first block of candidates of a query, for other rankings to score; None when there is no match."""
        search = self._interpreter.begun(query, Mode.AUTO, verbatim=True)
        if search is None:
            return None
        finder = CandidateFinder(self.index, self._weights)
        found, _ = finder.select(search.node, search.words, search.language, 1)
        return found if len(found.numbers) else None

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        page = self.pages.of_url(url)
        if page is None or page.details.archive is None:
            return None
        head = page.head
        response = read_version(self._collection, head.url, head.fetched_at, page.details.archive)
        if response is None:
            return None  # pruned
        return CachedPage(head.url, head.fetched_at, head.mime, response.body, charset_of(response.headers))

    def word_forms(self, query: str, language: str) -> WordForms | None:
        """Finds the words of a query in texts of a language; None for a query without words."""
        search = self._interpreter.begun(query, Mode.AUTO, verbatim=False)
        return WordForms(search.words, language_of(language), self._common.forward) if search else None

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """Continuations of the typed text, best first."""
        with self._common.damage_reported():
            return self._completer.complete(valid_text(typed), most)

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """Searches about the same subject, from titles and headings of pages found; *urls*: of these, best first."""
        root = parse_query(valid_text(query)).root
        words = wanted_words(root) if root is not None else []
        heads = self.pages.heads_of(urls[:HITS_READ]) if words else []
        if not heads:
            return []
        common, texts = self._common, [(head.title, *head.headings) for head in heads]
        language = heads[0].language if heads[0].language in common.languages else "en"
        return related_searches(words, texts, self.lexicon, common.phrases, common.vectors, language)

    def facts(self) -> CollectionFacts:
        """How much the index holds and how fresh it is; computed once."""
        with tracking_missing() as missing:
            facts = self._facts or collection_facts(self._common, self._group)
        if not missing:
            self._facts = facts
        return facts

    def _feature_row(self, one: Scored, head: Head) -> FeatureRow:
        features = dict(zip(FEATURES, one.features.tolist(), strict=True))
        score = sum(self._ranker.parts(one).values())
        return FeatureRow(
            head.url, score, features, one.crowding, head.title, head.host, one.number, one.block, one.boost
        )


def _hints(search: Search, total: int) -> list[str]:
    is_word = any(character.isalnum() for word in search.words for character in word)
    return ["The query has only punctuation. Add a word."] if search.words and not total and not is_word else []


def charset_of(headers: dict[str, str]) -> str:
    """The charset in the Content-Type header, or an empty string."""
    found = _CHARSET.search(headers.get("content-type", ""))
    return found[1].lower() if found else ""

"""Switches a running site to a new index generation, and to new weights of the ranking.

A thread checks once a second which generation is live. When it has changed, the thread opens the new one and runs some
searches on it; then users search it. It does the same when `[ranking]` in `periplus.toml` has changed. Running searches
finish on the old generation; the last of them closes its files. The thread also logs the damage that the check of large
files has found.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread
from typing import Protocol

from periplus.config import FILE_NAME, Ranking, Settings, load
from periplus.errors import DamagedFile, PeriplusError
from periplus.model import (
    CachedPage,
    CollectionFacts,
    Explanation,
    FacetCounts,
    FeatureTable,
    FullText,
    MediaResults,
    Results,
    SiteBoosts,
)
from periplus.search.cache.result_cache import CacheScope, ResultCache, SearchRequest, generation_id
from periplus.search.engine import SearchEngine
from periplus.search.interpret import Mode
from periplus.search.suggest.completion import Suggestion
from periplus.search.suggest.query_log import QUERY, QueryLog
from periplus.search.warm_up import warm_up
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations, number_of

logger = logging.getLogger("periplus.search")

_CHECK_SECONDS = 1.0
_BLOCKED = "-site:"  # begins the search of a reader who blocks sites: no query for other readers
_MOST_QUERIES = 3  # suggestions that are queries of readers


@dataclass(slots=True)
class _OpenGeneration:
    """An open generation and its reference count: running searches, plus one while it is the live generation."""

    engine: SearchEngine
    scope: CacheScope
    weights: Ranking
    references: int = 1


class EngineSource(Protocol):
    """Where the engine of a site comes from; the site asks once a second whether it is still the right one."""

    def open(self, settings: Settings) -> SearchEngine:
        """Opens the generation to search."""
        ...

    def is_current(self, engine: SearchEngine) -> bool:
        """Whether an engine searches the generation that `open` would open."""
        ...

    def may_store(self, weights: Ranking) -> bool:
        """Whether results of an engine with these weights may be stored: not while shards are searched with others."""
        ...


class _LiveGeneration:
    """The live generation of a collection, in this process."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def open(self, settings: Settings) -> SearchEngine:
        return SearchEngine.open(self._collection, settings)

    def is_current(self, engine: SearchEngine) -> bool:
        live = Generations(self._collection.index, INDEX_KIND).live()
        return live is not None and number_of(live) == engine.generation

    def may_store(self, weights: Ranking) -> bool:
        del weights
        return True


class ReloadingEngine:
    """A search engine on the live generation, with a result cache; safe to share between threads."""

    def __init__(
        self,
        collection: Collection,
        settings: Settings,
        check_seconds: float = _CHECK_SECONDS,
        source: EngineSource | None = None,
    ) -> None:
        """*source*: None opens the live generation in this process."""
        self._collection, self._settings = collection, settings
        self._source = source or _LiveGeneration(collection)
        self._lock, self._reloading = Lock(), Lock()
        self._file_state = self._read_file_state()
        size = settings.serve.cache_mb << 20
        self._cache = ResultCache(collection.result_cache, size) if size else None
        self._query_log = QueryLog(collection.query_log) if settings.serve.suggest_queries else None
        self._live = self._open()
        self._forget_removed()
        self._last_error = ""
        self._logged_damage: DamagedFile | None = None
        self._closed = Event()
        self._watcher = Thread(target=self._watch, args=(check_seconds,), name="generations", daemon=True)
        self._watcher.start()

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
        """One page of results."""
        request = SearchRequest(query, page, size, explain, str(mode), verbatim, site_boosts)
        with self._acquired() as live:
            search = partial(live.engine.search, **request._asdict())
            if self._cache is None or not self._may_store(live):
                found = search()
            else:
                found = self._cache.answer(live.scope, request, search)
        if self._query_log is not None and found.total and page == 1 and not query.startswith(_BLOCKED):
            self._query_log.add(found.corrected or query)
        return found

    def feature_table(
        self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> FeatureTable:
        """The weights, and URL, score and features of the best results."""
        with self._acquired() as live:
            return live.engine.feature_table(query, most, mode=mode, verbatim=verbatim, site_boosts=site_boosts)

    def facets(
        self, query: str, *, mode: str = Mode.AUTO, dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The number of results by language, type, site and date."""
        with self._acquired() as live:
            return live.engine.facets(query, mode=mode, dates=dates, hosts=hosts)

    def count(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of results."""
        with self._acquired() as live:
            return live.engine.count(query, mode=mode)

    def news(
        self, query: str, *, page: int = 1, size: int = 15, mode: str = Mode.AUTO, verbatim: bool = False
    ) -> Results:
        """One page of dated pages, newest first."""
        with self._acquired() as live:
            return live.engine.news(query, page=page, size=size, mode=mode, verbatim=verbatim)

    def count_news(self, query: str, *, mode: str = Mode.AUTO) -> int:
        """The number of dated pages."""
        with self._acquired() as live:
            return live.engine.count_news(query, mode=mode)

    def media(self, query: str, kind: str, *, page: int = 1, size: int = 30, mode: str = Mode.AUTO) -> MediaResults:
        """One page of images or videos of pages in the index."""
        with self._acquired() as live:
            return live.engine.media(query, kind, page=page, size=size, mode=mode)

    def count_media(self, query: str, kind: str, *, mode: str = Mode.AUTO) -> int:
        """About how many images or videos match."""
        with self._acquired() as live:
            return live.engine.count_media(query, kind, mode=mode)

    def explanation(
        self, query: str, url: str, *, mode: str = Mode.AUTO, verbatim: bool = False, site_boosts: SiteBoosts = ()
    ) -> Explanation | None:
        """Why the page is a result of the query."""
        with self._acquired() as live:
            return live.engine.explanation(query, url, mode=mode, verbatim=verbatim, site_boosts=site_boosts)

    def page_words(self, url: str) -> list[str]:
        """The words that say most about a page."""
        with self._acquired() as live:
            return live.engine.page_words(url)

    def best_texts(self, query: str, most: int) -> list[FullText]:
        """The best results with their texts; the query is not logged."""
        with self._acquired() as live:
            return live.engine.best_texts(query, most)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        with self._acquired() as live:
            return live.engine.cached(url)

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """Continuations of the typed text, best first."""
        frequent = self._query_log.beginning(typed, _MOST_QUERIES) if self._query_log else []
        with self._acquired() as live:
            found = live.engine.complete(typed, most)
        queries = [Suggestion(query, QUERY, 0.0) for query in frequent]
        known = {query.text for query in queries}
        return [*queries, *(one for one in found if one.text.lower() not in known)][:most]

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """Searches about the same subject as a query that found these pages."""
        with self._acquired() as live:
            return live.engine.related(query, urls)

    def facts(self) -> CollectionFacts:
        """How much the live generation holds and how fresh it is."""
        with self._acquired() as live:
            return live.engine.facts()

    @contextmanager
    def live(self) -> Iterator[SearchEngine]:
        """The engine of the live generation, which stays open in the block."""
        with self._acquired() as live:
            yield live.engine

    @property
    def generation(self) -> int:
        """The number of the live generation."""
        return self._live.engine.generation

    @property
    def fingerprint(self) -> str:
        """Identifies what the results depend on; empty when nothing may be stored."""
        live = self._live
        return live.scope.fingerprint if self._may_store(live) else ""

    @property
    def documents(self) -> int:
        """The number of indexed pages."""
        return self._live.engine.documents

    @property
    def is_damaged(self) -> bool:
        """Whether a file of the live generation was found damaged."""
        return self._live.engine.is_damaged

    def reload(self) -> None:
        """Switches to the current generation and weights; keeps the old ones while the new cannot be opened."""
        with self._reloading:
            self._reload()

    def _reload(self) -> None:
        try:
            self._read_weights()
            has_weights = self._live.weights == self._settings.ranking
            if has_weights and self._source.is_current(self._live.engine):
                return
            opened = self._open()
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                logger.warning("still serving generation %d: %s", self.generation, error)
            return
        with self._lock:
            old, self._live = self._live, opened
        self._release(old)
        self._forget_removed()

    def _read_weights(self) -> None:
        """Reads `[ranking]` when periplus.toml has changed. Other settings need a restart."""
        state = self._read_file_state()
        if state != self._file_state:
            self._file_state = state  # a file that cannot be read is reported once
            ranking = load(self._collection.home).settings.ranking
            self._settings = self._settings.model_copy(update={"ranking": ranking})

    def _read_file_state(self) -> tuple[int, int, int] | None:
        """Identifies the content of periplus.toml; None when there is no such file."""
        try:
            found = (self._collection.home / FILE_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _open(self) -> _OpenGeneration:
        engine = self._source.open(self._settings)
        try:
            warm_up(engine)
            weights = self._settings.ranking
            return _OpenGeneration(engine, CacheScope(engine.folder, weights), weights)
        except BaseException:
            engine.close()
            raise

    def _forget_removed(self) -> None:
        """Removes the cached results of generations that do not exist any more."""
        if self._cache is None:
            return
        kept = []
        for folder in Generations(self._collection.index, INDEX_KIND).complete():
            with suppress(OSError):  # removed meanwhile
                kept.append(generation_id(folder))
        self._cache.keep_only(kept)

    def close(self) -> None:
        """Closes the files; no search may be running."""
        self._closed.set()
        self._watcher.join()
        self._live.engine.close()
        if self._cache is not None:
            self._cache.close()
        if self._query_log is not None:
            self._query_log.close()

    def _watch(self, every: float) -> None:
        while not self._closed.wait(every):
            self.check()

    def check(self) -> None:
        """Switches to a new generation, and logs damage of the live one; `periplus serve` does it once a second."""
        self.reload()
        damage = self._live.engine.damage()
        if damage is not None and damage is not self._logged_damage:
            self._logged_damage = damage
            logger.error("%s", damage)

    def _may_store(self, live: _OpenGeneration) -> bool:
        """Whether later searches may get the same results: not when a file is damaged, or shards use other weights."""
        return not live.engine.is_damaged and self._source.may_store(live.weights)

    @contextmanager
    def _acquired(self) -> Iterator[_OpenGeneration]:
        with self._lock:
            generation = self._live
            generation.references += 1
        try:
            yield generation
        finally:
            self._release(generation)

    def _release(self, generation: _OpenGeneration) -> None:
        """Closes the generation when its last reference is gone; only the live generation gets new references."""
        with self._lock:
            generation.references -= 1
            is_unused = generation.references == 0
        if is_unused:
            generation.engine.close()

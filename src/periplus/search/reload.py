"""Switches a running site to a new index generation.

A thread checks once a second which generation is live. When it has changed, the thread opens the new one, and later
searches use it. Searches that are running finish on the old generation; the last of them closes its files. The thread
also logs the damage that the check of large files has found.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread

from periplus.config import Settings
from periplus.errors import DamagedFile, PeriplusError
from periplus.model import CachedPage, FeatureTable, Results
from periplus.search.engine import Mode, SearchEngine
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations, number_of

logger = logging.getLogger("periplus.search")

_CHECK_SECONDS = 1.0


@dataclass(slots=True)
class _OpenGeneration:
    """An open generation and its reference count: running searches, plus one while it is the live generation."""

    engine: SearchEngine
    references: int = 1


class ReloadingEngine:
    """A search engine on the live generation; safe to share between threads, never writes."""

    def __init__(self, collection: Collection, settings: Settings, check_seconds: float = _CHECK_SECONDS) -> None:
        self._collection, self._settings = collection, settings
        self._lock = Lock()
        self._live = _OpenGeneration(SearchEngine.open(collection, settings))
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
    ) -> Results:
        """One page of results."""
        with self._acquired() as engine:
            return engine.search(query, page=page, size=size, explain=explain, mode=mode, verbatim=verbatim)

    def feature_table(self, query: str, most: int, *, mode: str = Mode.AUTO, verbatim: bool = False) -> FeatureTable:
        """The weights, and URL, score and features of the best results."""
        with self._acquired() as engine:
            return engine.feature_table(query, most, mode=mode, verbatim=verbatim)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        with self._acquired() as engine:
            return engine.cached(url)

    @property
    def generation(self) -> int:
        """The number of the live generation."""
        return self._live.engine.generation

    @property
    def documents(self) -> int:
        """The number of indexed pages."""
        return self._live.engine.documents

    @property
    def is_damaged(self) -> bool:
        """Whether a file of the live generation was found damaged."""
        return self._live.engine.is_damaged

    def reload(self) -> None:
        """Switches to the current generation; keeps the old one while the new one cannot be opened."""
        try:
            live = Generations(self._collection.index, INDEX_KIND).live()
            if live is not None and number_of(live) == self.generation:
                return
            opened = _OpenGeneration(SearchEngine.open(self._collection, self._settings))
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                logger.warning("still serving generation %d: %s", self.generation, error)
            return
        with self._lock:
            old, self._live = self._live, opened
        self._release(old)

    def close(self) -> None:
        """Closes the files; no search may be running."""
        self._closed.set()
        self._watcher.join()
        self._live.engine.close()

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

    @contextmanager
    def _acquired(self) -> Iterator[SearchEngine]:
        with self._lock:
            generation = self._live
            generation.references += 1
        try:
            yield generation.engine
        finally:
            self._release(generation)

    def _release(self, generation: _OpenGeneration) -> None:
        """Closes the generation when its last reference is gone; only the live generation gets new references."""
        with self._lock:
            generation.references -= 1
            is_unused = generation.references == 0
        if is_unused:
            generation.engine.close()

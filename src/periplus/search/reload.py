"""How does a site that is being served come to answer from a new index?

Once a second somebody looks which generation is live. When it is another one, it is opened, and every question asked
from then on goes there; questions under way end where they began, and the last of them closes the door.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread

from periplus.config import Settings
from periplus.errors import PeriplusError
from periplus.index.generations import Generations, number_of
from periplus.model import CachedPage, Results
from periplus.search.engine import Mode, SearchEngine
from periplus.store.collection import Collection

logger = logging.getLogger("periplus.search")

_LOOK_EVERY = 1.0  # seconds


@dataclass(slots=True)
class _Reading:
    """An open generation, and how many hold it: those who ask it, and the site while it is the live one."""

    engine: SearchEngine
    readers: int = 1


class ReloadingEngine:
    """Whatever generation is live; safe to share between threads, never writes."""

    def __init__(self, collection: Collection, settings: Settings, look_every: float = _LOOK_EVERY) -> None:
        self._collection, self._settings = collection, settings
        self._lock = Lock()
        self._live = _Reading(SearchEngine.open(collection, settings))
        self._complaint = ""
        self._closed = Event()
        self._watcher = Thread(target=self._watch, args=(look_every,), name="generations", daemon=True)
        self._watcher.start()

    def search(
        self, query: str, *, page: int = 1, size: int = 15, explain: bool = False, mode: str = Mode.AUTO
    ) -> Results:
        """One page of the answer to a query."""
        with self._reader() as engine:
            return engine.search(query, page=page, size=size, explain=explain, mode=mode)

    def cached(self, url: str) -> CachedPage | None:
        """The archived copy of an indexed page."""
        with self._reader() as engine:
            return engine.cached(url)

    @property
    def generation(self) -> int:
        """The number of the generation that answers."""
        return self._live.engine.generation

    @property
    def documents(self) -> int:
        """How many pages can be found."""
        return self._live.engine.documents

    def look(self) -> None:
        """Go over to the generation that is live now; while it cannot be opened, the one before goes on answering."""
        try:
            current = Generations(self._collection.index).current()
            if number_of(current) == self.generation:
                return
            fresh = _Reading(SearchEngine(self._collection, current, self._settings))
        except (PeriplusError, OSError) as error:
            if str(error) != self._complaint:
                self._complaint = str(error)
                logger.warning("generation %d goes on answering: %s", self.generation, error)
            return
        with self._lock:
            before, self._live = self._live, fresh
        self._leave(before)

    def close(self) -> None:
        """Let go of the files; nobody may be asking any more."""
        self._closed.set()
        self._watcher.join()
        self._live.engine.close()

    def _watch(self, every: float) -> None:
        while not self._closed.wait(every):
            self.look()

    @contextmanager
    def _reader(self) -> Iterator[SearchEngine]:
        with self._lock:
            reading = self._live
            reading.readers += 1
        try:
            yield reading.engine
        finally:
            self._leave(reading)

    def _leave(self, reading: _Reading) -> None:
        """Whoever is last closes it: nobody comes back to a generation that is not live."""
        with self._lock:
            reading.readers -= 1
            is_left = reading.readers == 0
        if is_left:
            reading.engine.close()

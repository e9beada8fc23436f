"""Keeps the index of a search node at the generation that the object store names.

A thread reads CURRENT of the store every two seconds and brings a new generation into the folder `index/` of the node.
The site opens it from there, as it does on one machine. While the store cannot be used, the last generation stays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

from periplus.errors import DamagedFile, NoIndex, PeriplusError
from periplus.store.collection import Collection
from periplus.store.fleet_files.generation_cache import GenerationCache, Selection, all_files
from periplus.store.fleet_files.published_generations import Current, PublishedGenerations
from periplus.store.generations import INDEX_KIND, Generations
from periplus.store.objects.open_store import open_store

logger = logging.getLogger("periplus.store")

_POLL_SECONDS = 2.0
_PATIENCE = 3.0  # seconds; the next poll repeats what has failed


class IndexFollower:
    """Brings the live generation of an object store into a collection, now and whenever it changes."""

    def __init__(
        self,
        collection: Collection,
        cache_bytes: int,
        poll_seconds: float = _POLL_SECONDS,
        select: Selection = all_files,
    ) -> None:
        """*select*: chooses the files of a generation that are brought."""
        self._store = open_store(collection.storage, patience=_PATIENCE)
        self._published = PublishedGenerations(self._store, "index", INDEX_KIND)
        self._generations = Generations(collection.index, INDEX_KIND)
        self._cache = GenerationCache(collection.index, self._published, cache_bytes, select)
        self._poll_seconds, self._last_error = poll_seconds, ""
        self._brought: Current | None = None
        self._closed = Event()
        self._thread = Thread(target=self._follow, name="follower", daemon=True)

    def start(self, announce: Callable[[str], None]) -> None:
        """Bring the live generation and begin to follow; without the store, begin with the one that is here.

        *announce* gets a line for the user before a download, and when the store cannot be used.
        """
        try:
            if not self._bring(announce) and not self._has_generation():
                hint = "`periplus up` or `periplus index` on a node of the fleet publishes one."
                raise NoIndex(f"{self._store.url} has no index yet", hint=hint)
        except (PeriplusError, OSError) as error:
            if not self._has_generation():
                raise
            self._last_error = str(error)
            announce(f"Beginning with the index of the last start: {error}")
        self._thread.start()

    def close(self) -> None:
        """End the thread; a later start goes on with a download under way."""
        self._closed.set()
        self._cache.stop()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Bring the live generation if it is another one; an error is logged, once."""
        try:
            self._bring(logger.info)
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error and not self._closed.is_set():
                self._last_error = str(error)
                logger.warning("still serving the last generation: %s", error)
        else:
            self._last_error = ""

    def _bring(self, announce: Callable[[str], None]) -> bool:
        """Whether the store has a live generation; it is here afterwards."""
        current = self._published.current()
        if current is None:
            return False
        if current != self._brought:
            if not self._cache.is_live(current):
                announce(f"Downloading generation {current.number} of the index from {self._store.url}")
                self._cache.bring(current)
            self._brought = current
        return True

    def _has_generation(self) -> bool:
        try:
            live = self._generations.live()
        except DamagedFile:
            return False
        return live is not None and live.is_dir()

    def _follow(self) -> None:
        while not self._closed.wait(self._poll_seconds):
            self.check()

"""Which generations of its shards has a node open?

A thread checks once a second which generation is live, and opens a new one. After a change of `[ranking]`, it opens the
same generation with the new weights. Brokers and nodes change to a new generation at different moments. So the earlier
generation stays open as long as a broker uses it, and for a minute more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Protocol

from periplus import __version__
from periplus.cluster.protocol import NodeFacts
from periplus.errors import PeriplusError
from periplus.search.shards.port import Shard

logger = logging.getLogger("periplus.cluster")

_CHECK_SECONDS = 1.0
_KEPT_SECONDS = 60.0  # after the last request about an earlier generation
_MOST_OPEN = 3  # generations


class OpenShards(Protocol):
    """Some shards of one generation, open in this process."""

    @property
    def id(self) -> str:
        """Identifies the generation."""
        ...

    @property
    def number(self) -> int:
        """The number of the generation."""
        ...

    @property
    def weights(self) -> str:
        """Identifies the weights of the ranking with which it was opened."""
        ...

    @property
    def documents(self) -> int:
        """The number of documents of these shards."""
        ...

    @property
    def shards(self) -> Mapping[int, Shard]:
        """The shards by number."""
        ...

    def close(self) -> None:
        """Closes the files."""
        ...


class ShardSource(Protocol):
    """Finds and opens the live generation; in tests, a made one."""

    @property
    def weights(self) -> str:
        """Identifies the current weights of the ranking."""
        ...

    def live_id(self) -> str:
        """Identifies the live generation; empty when there is none."""
        ...

    def open(self) -> OpenShards:
        """Opens the shards of the live generation."""
        ...


class ShardNotServed(Exception):  # noqa: N818  # not an error: the broker asks another node
    """The node has not, or no longer, a shard of a generation."""


@dataclass(slots=True, eq=False)
class _OpenGeneration:
    """An open generation."""

    opened: OpenShards
    used_at: float  # when a broker has used it last
    references: int = 0  # requests that are being answered
    is_retired: bool = False  # closed when the last request is answered


class NodeShards:
    """The shards of a node in the generations that brokers may search; safe to share between threads."""

    def __init__(
        self,
        source: ShardSource,
        check_seconds: float = _CHECK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source, self._clock, self._lock = source, clock, Lock()
        self._held = [_OpenGeneration(source.open(), clock())]  # the live generation first
        self._last_error = ""
        self._closed = Event()
        self._thread = Thread(target=self._watch, args=(check_seconds,), name="generations", daemon=True)
        self._thread.start()

    @property
    def live(self) -> OpenShards:
        """The shards of the live generation."""
        return self._held[0].opened

    def facts(self, in_use: str = "") -> NodeFacts:
        """What this node has; *in_use*: id of the generation that the broker searches."""
        with self._lock:
            for held in self._held:
                if held.opened.id == in_use:
                    held.used_at = self._clock()
            generations = tuple(held.opened.id for held in self._held)
            weights = tuple(held.opened.weights for held in self._held)
        return NodeFacts(__version__, tuple(self.live.shards), generations, weights)

    @contextmanager
    def opened(self, generation: str, shard: int) -> Iterator[Shard]:
        """A shard of a generation, which stays open in the block; raises `ShardNotServed`."""
        with self._lock:
            held = next((one for one in self._held if one.opened.id == generation), None)
            if held is None or shard not in held.opened.shards:
                raise ShardNotServed(generation, shard)
            held.references += 1
            held.used_at = self._clock()
        try:
            yield held.opened.shards[shard]
        finally:
            with self._lock:
                held.references -= 1
            self._close_if_unused(held)

    def check(self) -> None:
        """Open a new generation, and close those that no broker uses any more."""
        try:
            live, weights = self._source.live_id(), self._source.weights
            if live and (live, weights) != (self.live.id, self.live.weights):
                self._switch(live, weights)
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error:
                self._last_error = str(error)
                logger.warning("still serving generation %d: %s", self.live.number, error)
        self._retire()

    def close(self) -> None:
        """Close all files; no request may be under way."""
        self._closed.set()
        self._thread.join()
        for held in self._held:
            held.opened.close()

    def _switch(self, live: str, weights: str) -> None:
        """Make another generation the live one, or the same with other weights; after a roll-back it may be open."""
        with self._lock:
            known = [one for one in self._held if (one.opened.id, one.opened.weights) == (live, weights)]
        held = known[0] if known else _OpenGeneration(self._source.open(), self._clock())
        now = self._clock()
        with self._lock:
            self._held[0].used_at = now  # brokers change a moment later
            others = [one for one in self._held if one is not held]
            replaced = [one for one in others if one.opened.id == held.opened.id]
            self._held = [held, *(one for one in others if one not in replaced)]
            for one in replaced:
                one.is_retired = True
        for one in replaced:
            self._close_if_unused(one)
        self._last_error = ""
        logger.info("generation %d is live", held.opened.number)

    def _retire(self) -> None:
        now = self._clock()
        with self._lock:
            first, *others = self._held
            others.sort(key=lambda one: one.used_at, reverse=True)
            kept = [one for one in others if now - one.used_at < _KEPT_SECONDS][: _MOST_OPEN - 1]
            retired = [one for one in others if one not in kept]
            self._held = [first, *kept]
            for one in retired:
                one.is_retired = True
        for one in retired:
            self._close_if_unused(one)

    def _close_if_unused(self, held: _OpenGeneration) -> None:
        with self._lock:
            is_last = held.is_retired and held.references == 0
            held.is_retired = held.is_retired and not is_last  # so that it is closed once
        if is_last:
            held.opened.close()

    def _watch(self, every: float) -> None:
        while not self._closed.wait(every):
            self.check()

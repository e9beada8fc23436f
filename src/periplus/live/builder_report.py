"""Publishes what the builder does as its row: step, freshness, and how fast the crawl may be."""

from __future__ import annotations

import logging
import os
import time
from enum import StrEnum
from threading import Event, Thread
from types import TracebackType
from typing import Any

from periplus.errors import PeriplusError
from periplus.live.freshness import FreshnessMeter
from periplus.live.rhythm import Rhythm, rate_limit
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection

logger = logging.getLogger("periplus.live")

_EVERY = 1.0  # seconds
_IDLE_REPORTS = 4  # a builder without work reports every so many seconds


class Step(StrEnum):
    """What the builder does."""

    IDLE = "idle"
    REPARSE = "reparse"
    INDEX = "index"
    COMPACT = "compact"
    PRUNE = "prune"


class BuilderReport:
    """A thread that publishes the row of the builder once a second, also during long steps."""

    def __init__(self, collection: Collection, since: float) -> None:
        self._collection = collection
        self._rows = open_catalog(collection, LiveState)
        self._others = open_catalog(collection, LiveState, read_only=True)  # several threads read it, one at a time
        self.meter = FreshnessMeter(collection, since, self._served)
        self.rhythm = Rhythm(time.monotonic())
        self._started, self._state = time.time(), "running"
        self._step, self._step_since = Step.IDLE, time.time()
        self._generation = self._documents = 0
        self._closed = Event()
        self._thread = Thread(target=self._publish_often, name="report", daemon=True)

    def __enter__(self) -> BuilderReport:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closed.set()
        self._thread.join()
        if kind is None:
            self._rows.remove(self._collection.node, Role.INDEX, 0)
        self._rows.close()
        self._others.close()

    def step(self, step: Step) -> None:
        """The builder begins a step."""
        if step is not self._step:
            self._step, self._step_since = step, time.time()

    def live(self, generation: int, documents: int) -> None:
        """A generation is live."""
        self._generation, self._documents = generation, documents

    def drains(self) -> None:
        """The builder finishes its work."""
        self._state = "draining"

    def _publish_often(self) -> None:
        quiet = _IDLE_REPORTS  # seconds since the last report; the first one comes at once
        while not self._closed.wait(_EVERY):
            try:
                figures = self.figures()
                is_idle = self._step is Step.IDLE and self._state == "running"
                quiet += 1
                if not is_idle or figures["waiting"] or quiet >= _IDLE_REPORTS:
                    self._publish("idle" if is_idle else self._state, figures)
                    quiet = 0
            except PeriplusError as error:
                logger.warning("%s", error)

    def _publish(self, state: str, figures: dict[str, Any]) -> None:
        now = time.time()
        self._rows.publish(
            WorkerRow(self._collection.node, Role.INDEX, 0, os.getpid(), self._started, now, state, 0, figures)
        )

    def figures(self) -> dict[str, Any]:
        """The figures of the row."""
        fresh = self.meter.measure()
        return {
            "step": self._step,
            "since": self._step_since,
            "generation": self._generation,
            "documents": self._documents,
            "waiting": fresh.waiting,
            "freshness": round(fresh.oldest_age, 1),
            "freshness_p95": round(fresh.p95, 1),
            "newest": fresh.newest,
            "rate_limit": rate_limit(fresh.waiting, self.rhythm.pages_per_second, fresh.oldest_age),
        }

    def _served(self) -> int | None:
        """The generation that the site has opened; None when no site runs."""
        now = time.time()
        rows = [row for row in self._others.workers() if row.role is Role.SERVE and not row.is_silent(now)]
        return min((int(row.figures.get("generation", 0)) for row in rows), default=None)

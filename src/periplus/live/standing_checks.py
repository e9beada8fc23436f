"""Checks the standing queries of a site after every new index, and sends again what a webhook did not take."""

from __future__ import annotations

import logging
import time
from threading import Thread

from periplus.config import Settings
from periplus.errors import PeriplusError
from periplus.search.reload import ReloadingEngine
from periplus.standing.check import check_standing_queries
from periplus.store.collection import Collection

logger = logging.getLogger("periplus.live")

_LOOK_SECONDS = 2.0  # for a new generation
_RETRY_SECONDS = 60.0  # between two deliveries without a new generation


class StandingChecks:
    """A thread that uses the open engine of a site; several sites of one collection wait for each other."""

    def __init__(self, collection: Collection, settings: Settings, engine: ReloadingEngine) -> None:
        self._collection, self._settings, self._engine = collection, settings, engine
        self._last_error = ""

    def start(self) -> None:
        """Begin; the thread ends with the process, and a check that it interrupts is done by the next start."""
        Thread(target=self._watch, name="standing-queries", daemon=True).start()

    def _watch(self) -> None:
        checked, waited = -1, 0.0
        while True:
            time.sleep(_LOOK_SECONDS)
            waited += _LOOK_SECONDS
            if self._engine.generation != checked or waited >= _RETRY_SECONDS:
                checked, waited = self._engine.generation, 0.0
                self._check()

    def _check(self) -> None:
        try:
            with self._engine.live() as engine:
                found = check_standing_queries(self._collection, self._settings, engine).found
        except (PeriplusError, OSError) as error:
            if str(error) != self._last_error:
                logger.warning("standing queries were not checked: %s", error)
            self._last_error = str(error)
            return
        self._last_error = ""
        if found:
            logger.info("standing queries found %d new or changed pages", sum(found.values()))

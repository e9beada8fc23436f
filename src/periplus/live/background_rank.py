"""Computes ranks in a process of its own, so that pages become searchable meanwhile."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from periplus.config import Settings
from periplus.errors import PeriplusError

logger = logging.getLogger("periplus.live")

_PR_SET_PDEATHSIG = 1
_NICE = 5  # besides that of the builder


class BackgroundRank:
    """At most one computation of ranks at a time."""

    def __init__(self, home: Path, settings: Settings) -> None:
        self._home, self._settings = home, settings
        self._process: BaseProcess | None = None
        self._began = 0.0
        self.pages = 0  # searchable when the last computation began

    @property
    def is_running(self) -> bool:
        """Whether ranks are being computed."""
        return self._process is not None

    def start(self, pages: int) -> None:
        """Begin to compute ranks."""
        context, arguments = get_context("spawn"), (self._home, self._settings, os.getpid())
        process = context.Process(target=_rank, args=arguments, daemon=True)  # killed when the builder ends
        process.start()
        self._process, self._began, self.pages = process, time.monotonic(), pages

    def finished(self) -> float | None:
        """The seconds of a computation that has ended since the last call; None: there is none."""
        if self._process is None or self._process.is_alive():
            return None
        self._process.join()
        if self._process.exitcode:
            logger.warning("the ranks could not be computed (exit code %d)", self._process.exitcode)
        self._process.close()
        self._process = None
        return time.monotonic() - self._began


def _rank(home: Path, settings: Settings, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    with suppress(OSError):
        os.nice(_NICE)
    from periplus.graph.run import rank  # noqa: PLC0415  # only this process needs it
    from periplus.store.collection import open_collection  # noqa: PLC0415

    try:
        rank(open_collection(home), settings.graph, warm=True)
    except PeriplusError:
        raise SystemExit(1) from None

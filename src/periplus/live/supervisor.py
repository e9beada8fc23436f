"""Keeps the children of `periplus up` running: restarts those that end, and stops all of them in order.

A child that ends with an error or is killed is started again: after a second, then 2, 4, and so on up to 60 seconds. A
child that ran for a minute counts as sound again. The other children go on meanwhile.

The first Ctrl-C or SIGTERM drains: each child gets SIGTERM when the one before it has ended. The second stops now.
"""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from multiprocessing.connection import wait
from typing import Any

from periplus.live.child import ChildProcess, Ended, start_child
from periplus.signals import handling

logger = logging.getLogger("periplus.live")

_TICK = 0.25  # seconds
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds until a dead child is started again
_QUIET_SECONDS = 60.0  # after which a child that runs is not suspected any more
_STOP_SECONDS = 10.0  # for children to end after the second signal, before they are killed
_SAME_SIGNAL_SECONDS = 1.0  # a second signal within this time counts as the same: `timeout` sends two


class ChildState(StrEnum):
    """What a child does."""

    RUNNING = "running"
    RESTARTING = "restarting"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """A child of the supervisor."""

    name: str
    work: Callable[[], Any]
    nice: int = 0
    survives_stop: bool = True  # SIGTERM ends its work in order; otherwise the second signal kills it


@dataclass(slots=True)
class Child:
    """A child, its current process, and how its processes before ended."""

    spec: ChildSpec
    process: ChildProcess | None = None
    started: float = 0.0  # monotonic
    pause: float = _FIRST_PAUSE  # before the next start
    restart_at: float = 0.0
    restarts: int = 0
    last: Ended | None = None
    is_told_to_stop: bool = False

    @property
    def state(self) -> ChildState:
        """What the child does now."""
        if self.process is not None:
            return ChildState.RUNNING
        return ChildState.FINISHED if self.last is None or self.last.is_finished else ChildState.RESTARTING


@dataclass(slots=True)
class Supervisor:
    """The children in the order in which they are drained."""

    specs: Sequence[ChildSpec]
    on_message: Callable[[str], None]
    on_tick: Callable[[], None] = lambda: None
    children: dict[str, Child] = field(default_factory=dict)
    signals: int = 0
    _signalled: float = 0.0
    _obeyed: int = 0  # signals that the children know about
    _kill_at: float = 0.0

    def run(self) -> None:
        """Run until a signal has stopped all children."""
        with handling(self._on_signal):
            try:
                for spec in reversed(self.specs):  # the site answers first
                    self.children[spec.name] = Child(spec)
                    self._start(self.children[spec.name])
                while not self._is_over():
                    self._watch()
                    self.on_tick()
            finally:
                self._kill_all()

    def _on_signal(self, number: int, frame: object) -> None:
        del number, frame
        now = time.monotonic()
        if not self.signals or now - self._signalled > _SAME_SIGNAL_SECONDS:
            self.signals, self._signalled = self.signals + 1, now

    def _is_over(self) -> bool:
        return self.signals > 0 and all(child.process is None for child in self.children.values())

    def _watch(self) -> None:
        running = {child.process.inbox: child for child in self.children.values() if child.process is not None}
        for inbox in wait(list(running), _TICK):
            self._end(running[inbox])  # type: ignore[index]  # only these were waited for
        now = time.monotonic()
        if self.signals:
            self._stop_in_order(now)
            return
        for child in self.children.values():
            if child.state is ChildState.RESTARTING and now >= child.restart_at:
                self._start(child)

    def start_again(self, name: str) -> bool:
        """Start a child that has finished; False when it is still running, or all children are being stopped."""
        child = self.children[name]
        if self.signals or child.state is not ChildState.FINISHED:
            return False
        self._start(child)
        return True

    # -- starting and restarting ------------------------------------------------------------------------------------

    def _start(self, child: Child) -> None:
        child.started, child.is_told_to_stop = time.monotonic(), False
        child.process = start_child(child.spec.name, child.spec.work, child.spec.nice)
        logger.info("%s started (process %d)", child.spec.name, child.process.pid)

    def _end(self, child: Child) -> None:
        assert child.process is not None
        child.last = ended = child.process.ended()
        child.process = None
        name, now = child.spec.name, time.monotonic()
        if ended.is_finished:
            logger.info("%s finished", name)
            return
        logger.info("%s ended: %s", name, ended.why)
        if self.signals:
            return
        if now - child.started >= _QUIET_SECONDS:
            child.pause = _FIRST_PAUSE
        child.restart_at, child.restarts = now + child.pause, child.restarts + 1
        self.on_message(f"{name} ended ({ended.why}); starts again in {child.pause:.0f} s")
        child.pause = min(2 * child.pause, _LONGEST_PAUSE)

    # -- stopping ---------------------------------------------------------------------------------------------------

    def _stop_in_order(self, now: float) -> None:
        if self.signals > 1:
            self._stop_now(now)
            return
        if not self._obeyed:
            self._obeyed = 1
            self.on_message("stopping: finishing requests and indexing the last pages (again: stop now)")
        for spec in self.specs:
            child = self.children[spec.name]
            if child.process is not None:
                if not child.is_told_to_stop:
                    child.is_told_to_stop = True
                    child.process.signal(signal.SIGTERM)
                return

    def _stop_now(self, now: float) -> None:
        if self._obeyed < 2:
            self._obeyed, self._kill_at = 2, now + _STOP_SECONDS
            self.on_message("stopping now")
            for child in self.children.values():
                if child.process is not None:
                    # The crawl was told before; the second signal makes it drop its requests.
                    child.process.signal(signal.SIGTERM if child.spec.survives_stop else signal.SIGKILL)
        elif now >= self._kill_at:
            self._kill_all()

    def _kill_all(self) -> None:
        for child in self.children.values():
            if child.process is not None:
                child.process.signal(signal.SIGKILL)

"""Runs the workers of a crawl in processes of their own, and replaces those that die.

The supervisor forks N workers before it has a thread or a connection to the catalog. It does not crawl, and with a
single worker it does not even load the crawling libraries. It passes Ctrl-C on, reports progress, and ends the workers
when none has anything left to do. It kills a worker that hangs while parsing a page. It replaces every dead worker by
one with the same number, shares and files, which goes on from the acknowledged pages.

A worker of a fleet that loses the database or its lease is replaced when the database answers again, however long that
takes. The supervisor tries after a part of a second, and then less and less often, at least every 30 seconds.
"""

from __future__ import annotations

import ctypes
import logging
import math
import multiprocessing
import os
import random
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from periplus.crawl.assignment import Assignment, Ending, Report
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.crawl.memory import drop_loaded_code_pages, resident_bytes
from periplus.errors import DatabaseUnavailable, LeaseLost, PeriplusError, WorkerDied
from periplus.parse.sandbox.parent import PATIENCE
from periplus.signals import handling
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import RunCounters

logger = logging.getLogger("periplus.crawl")

_TICK = 0.02  # seconds between two checks of the workers
_PROGRESS_EVERY = 0.5  # seconds
_MAX_DEATHS_IN_A_ROW = 5  # without a commit between them, after which the run fails
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds until a worker is replaced that was cut off from the database
_PR_SET_PDEATHSIG = 1


OnProgress = Callable[[], None]


def load_worker() -> Callable[[Assignment, SharedState, int, OnProgress | None], Report]:
    """Import the function that runs one worker to its end; the supervisor itself never needs its libraries."""
    from periplus.crawl.workers.worker_process import run_worker  # noqa: PLC0415  # it loads libcurl, Arrow and others

    return run_worker


def run_workers(assignment: Assignment, shared: SharedState, on_progress: OnProgress) -> list[Report]:
    """Run all workers to their end; *on_progress* is called every 0.5 s."""
    supervisor = _Supervisor(assignment, shared)
    with handling(lambda *_: shared.request_stop()):  # Ctrl-C once drains all workers, twice stops them now
        supervisor.start()
        return supervisor.wait(on_progress)


@dataclass(slots=True)
class _WorkerHandle:
    """One worker number: its current process, and what is known of the processes before it."""

    number: int
    process: BaseProcess
    inbox: Connection
    report: Report | None = None
    deaths: int = 0
    deaths_in_a_row: int = 0  # of workers that had something to do and committed nothing
    commits: int = 0  # of all its processes, when the last one died
    outages: int = 0  # failed attempts in a row, without a commit, to replace it while the database does not answer
    outage_commits: int = 0  # of all its processes, at the last of these attempts
    replace_at: float | None = None  # when it is to be replaced; None: it runs, or has ended
    resident_before: float = math.inf  # bytes in memory when the worker began to parse its current page

    @property
    def has_ended(self) -> bool:
        """Whether the worker has ended for good."""
        return self.inbox.closed and self.replace_at is None


@dataclass(slots=True)
class _Supervisor:
    assignment: Assignment
    shared: SharedState
    handles: list[_WorkerHandle] = field(default_factory=list)
    suspects: Counter[str] = field(default_factory=Counter)  # URL -> number of workers that died while parsing it
    failure: PeriplusError | None = None

    def start(self) -> None:
        if self.shared.workers > 1:
            load_worker()  # once, before the forks share it
        for number in range(self.shared.workers):
            self.handles.append(_WorkerHandle(number, *self._fork(self.assignment, number)))
        drop_loaded_code_pages()

    def _fork(self, assignment: Assignment, number: int) -> tuple[BaseProcess, Connection]:
        """Fork a worker; this process must have no thread and no connection to the catalog meanwhile."""
        context = multiprocessing.get_context("fork")
        inbox, outbox = context.Pipe(duplex=False)
        process = context.Process(target=_run_in_child, args=(assignment, self.shared, number, outbox, os.getpid()))
        process.start()
        outbox.close()
        return process, inbox

    def wait(self, on_progress: OnProgress) -> list[Report]:
        try:
            self._watch(on_progress)
        except BaseException:
            self.shared.request_stop()  # no other process would end the workers
            raise
        finally:
            for handle in self.handles:
                handle.process.join()
        if self.failure is not None:
            raise self.failure
        return [handle.report for handle in self.handles if handle.report is not None]

    def _watch(self, on_progress: OnProgress) -> None:
        reported = time.monotonic()
        while running := [
            handle for handle in self.handles if handle.replace_at is not None or not handle.inbox.closed
        ]:
            readable = wait([handle.inbox for handle in running if handle.replace_at is None], _TICK)
            for handle in running:
                if handle.replace_at is not None:
                    if self._is_stopping or time.monotonic() >= handle.replace_at:
                        self._replace(handle)
                elif handle.inbox in readable:
                    self._receive(handle)
                else:
                    self._kill_if_stuck(handle)
            if self._is_finished():
                self.shared.declare_finished()
            if time.monotonic() - reported >= _PROGRESS_EVERY:
                on_progress()
                reported = time.monotonic()

    def _kill_if_stuck(self, handle: _WorkerHandle) -> None:
        """Kill a worker that parses one page for too long, or needs too much memory for it."""
        seconds = self.shared.parsing_seconds(handle.number)
        if seconds < _TICK:
            handle.resident_before = math.inf
            return
        limits, resident = self.assignment.settings.parse, resident_bytes(handle.process.pid)
        handle.resident_before = min(handle.resident_before, resident)
        grown = (resident - handle.resident_before) / 1_000_000
        if seconds > limits.seconds * PATIENCE or grown > limits.memory_mb:
            url = self.shared.parsing_url(handle.number)
            message = "killing worker %d: it has parsed %s for %.1f s and grown by %d MB"
            logger.info(message, handle.number, url, seconds, grown)
            handle.process.kill()
            handle.process.join()

    def _receive(self, handle: _WorkerHandle) -> None:
        """Receive the report or the error of a worker; end of file means that the worker is dead."""
        try:
            message = handle.inbox.recv()
        except (EOFError, OSError):
            self._log_end(handle)
            self._replace(handle)
            return
        if isinstance(message, LeaseLost | DatabaseUnavailable):
            logger.warning("worker %d starts anew: %s", handle.number, message.sentence)
            self._log_end(handle)
            handle.deaths_in_a_row = 0  # it was cut off, not broken
            self._replace_later(handle)
            return
        handle.inbox.close()
        if isinstance(message, Report):
            handle.report = message
        else:
            self._fail(message)

    def _fail(self, failure: PeriplusError) -> None:
        if self.failure is None:
            self.failure = failure
            self.shared.request_stop()

    # -- replacement of dead workers ----------------------------------------------------------------------------

    @property
    def _is_stopping(self) -> bool:
        return self.failure is not None or bool(self.shared.stop)

    def _log_end(self, handle: _WorkerHandle) -> None:
        handle.inbox.close()
        handle.process.join()
        page = self.shared.parsing_url(handle.number)
        logger.info(
            "worker %d (process %s) exited with %s%s",
            handle.number,
            handle.process.pid,
            handle.process.exitcode,
            f" while parsing {page}" if page else "",
        )

    def _replace_later(self, handle: _WorkerHandle) -> None:
        """Pause before a worker is replaced; the pause doubles until a worker of this number commits again."""
        commits = self.shared.get(handle.number, Metric.COMMITS)
        handle.outages = 0 if commits > handle.outage_commits else handle.outages + 1
        handle.outage_commits = commits
        handle.replace_at = time.monotonic() + pause_after(handle.outages)

    def _replace(self, handle: _WorkerHandle) -> None:
        """Fork a worker that goes on where a dead one stopped, unless all workers stop anyway.

        While the database of the fleet does not answer, it is not known where that worker stopped.
        """
        handle.replace_at = None
        try:
            summary = self._acknowledged(handle.number)
        except DatabaseUnavailable:
            if not self._is_stopping:
                self._replace_later(handle)
                return
            summary = {}
        page = self.shared.parsing_url(handle.number)
        self._record_death(handle, summary)
        if self._is_stopping:
            return
        if handle.deaths_in_a_row >= _MAX_DEATHS_IN_A_ROW:
            self._fail(_too_many_deaths(handle, page))
            return
        if page is not None:
            self.suspects[page] += 1
        assignment = replace(self.assignment, after_kill=True, deaths=handle.deaths, suspects=dict(self.suspects))
        handle.process, handle.inbox = self._fork(assignment, handle.number)

    def _record_death(self, handle: _WorkerHandle, summary: dict[str, Any]) -> None:
        """Reset a dead worker's metrics to what it had acknowledged, and free its connections to IP addresses."""
        run_id, number = self.assignment.run_id, handle.number
        commits, idle = self.shared.get(number, Metric.COMMITS), self.shared.get(number, Metric.IDLE)
        handle.deaths_in_a_row = 1 if idle or commits > handle.commits else handle.deaths_in_a_row + 1
        handle.commits = commits
        handle.deaths += 1
        self.assignment.addresses.forget_worker(number)
        self.shared.record_death(number, fetched=summary.get("fetched", 0), size=summary.get("bytes", 0))
        so_far = summary or RunCounters(run_id, self.assignment.started).summary(self.assignment.started)
        handle.report = Report(Ending.INTERRUPTED, so_far, {})  # until the replacement reports

    def _acknowledged(self, number: int) -> dict[str, Any]:
        """The summary of a dead worker."""
        with self._catalog() as catalog:
            return catalog.worker_summary(self.assignment.run_id, self.shared.get(number, Metric.WORKER))

    def _is_finished(self) -> bool:
        """Whether no worker has anything left to do, and no forwarded URL is unread.

        Idleness is checked before and after the forwarded URLs: a worker that stayed idle has forwarded none meanwhile.
        """
        wakeups = self.shared.all(Metric.WAKEUPS)
        if self.shared.is_finished or not self.shared.is_quiescent():
            return False
        with self._catalog() as catalog:
            if catalog.forwarded_urls(0, 1):
                return False
        return self.shared.is_quiescent() and self.shared.all(Metric.WAKEUPS) == wakeups

    @contextmanager
    def _catalog(self) -> Iterator[Catalog]:
        """A short connection: none may be open when a worker is forked."""
        with closing(open_catalog(self.assignment.collection)) as catalog:
            yield catalog


def pause_after(outages: int) -> float:
    """Seconds until a worker is replaced; random, so that many nodes do not connect at the same moment."""
    longest = min(_FIRST_PAUSE * 2.0 ** min(outages, 10), _LONGEST_PAUSE)
    return random.uniform(longest / 2, longest)  # noqa: S311  # no secret


def _too_many_deaths(handle: _WorkerHandle, page: str | None) -> WorkerDied:
    return WorkerDied(
        f"{_MAX_DEATHS_IN_A_ROW} workers of the crawl died one after the other",
        f"the last one exited with {handle.process.exitcode}{f' while parsing {page}' if page else ''}",
        "Everything acknowledged is kept; the same command continues.",
    )


def _run_in_child(assignment: Assignment, shared: SharedState, number: int, outbox: Connection, parent: int) -> None:
    """Run a worker in a forked process, and send its report or its error to the supervisor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all; the parent passes it on
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # the supervisor died before the call above
    try:
        run_worker = load_worker()
        outbox.send(run_worker(assignment, shared, number, None))
    except PeriplusError as error:
        outbox.send(error)
    except Exception as error:
        traceback.print_exc()
        outbox.send(PeriplusError(f"worker {number} failed", f"{type(error).__name__}: {error}"))

"""How do workers crawl together, and what if one of them dies?

The process that was asked to crawl becomes the parent of N workers, forked before it has made a thread or opened the
catalog. It does not crawl, and for a single worker it does not even load what it takes, which would only be in memory
twice: it passes on Ctrl-C, shows progress, and sends everybody home when nobody has anything left. It also watches. A
worker that stands still over a page is killed; for one that is dead, whoever killed it, another is forked that has its
number, its shares and its files, and goes on from what was acknowledged.
"""

from __future__ import annotations

import ctypes
import logging
import math
import multiprocessing
import os
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from periplus.crawl.assignment import Assignment, Ending, Report
from periplus.crawl.memory import drop_loaded_code_pages, resident_bytes
from periplus.crawl.shared_state import Metric, SharedState
from periplus.errors import PeriplusError, WorkerDied
from periplus.parse.sandbox.parent import PATIENCE
from periplus.signals import handling
from periplus.store.catalog import Catalog
from periplus.store.run_summary import RunCounters

logger = logging.getLogger("periplus.crawl")

_TICK = 0.02  # seconds between two looks at the board
_LOOK_EVERY = 0.5  # seconds between two looks at the progress
_DEATHS_IN_VAIN = 5  # in a row, without anything acknowledged between them: one more worker would not help
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


Look = Callable[[], None]


def load_worker() -> Callable[[Assignment, SharedState, int, Look | None], Report]:
    """Import the function that runs one worker to its end; the supervisor itself never needs its libraries."""
    from periplus.crawl.worker_process import run_worker  # noqa: PLC0415  # it loads half a dozen libraries

    return run_worker


def run_workers(assignment: Assignment, board: SharedState, look: Look) -> list[Report]:
    """Run every worker of the board to its end; *look* is called now and then."""
    team = _Team(assignment, board)
    with handling(lambda *_: board.ask_to_stop()):  # Ctrl-C once drains all workers, twice stops them now
        team.set_out()
        return team.see_home(look)


@dataclass(slots=True)
class _Member:
    number: int
    process: BaseProcess
    inbox: Connection
    report: Report | None = None
    deaths: int = 0  # of workers of this number
    in_vain: int = 0  # of those, the last ones, who had something to do and acknowledged nothing
    commits: int = 0  # of all of them, when the last one died
    before: float = math.inf  # bytes it had in memory when it began to read the page that it is reading


@dataclass(slots=True)
class _Team:
    assignment: Assignment
    board: SharedState
    members: list[_Member] = field(default_factory=list)
    suspects: Counter[str] = field(default_factory=Counter)  # how many workers died while reading an address
    failure: PeriplusError | None = None

    def set_out(self) -> None:
        if self.board.workers > 1:
            load_worker()  # learned once, before they part
        for number in range(self.board.workers):
            self.members.append(_Member(number, *self._fork(self.assignment, number)))
        drop_loaded_code_pages()

    def _fork(self, assignment: Assignment, number: int) -> tuple[BaseProcess, Connection]:
        """Only while this process has no thread and no connection to the catalog: neither must cross a fork."""
        context = multiprocessing.get_context("fork")
        inbox, outbox = context.Pipe(duplex=False)
        process = context.Process(target=_work_aside, args=(assignment, self.board, number, outbox, os.getpid()))
        process.start()
        outbox.close()
        return process, inbox

    def see_home(self, look: Look) -> list[Report]:
        try:
            self._watch(look)
        except BaseException:
            self.board.ask_to_stop()  # nobody would ever tell the workers that the crawl is over
            raise
        finally:
            for member in self.members:
                member.process.join()
        if self.failure is not None:
            raise self.failure
        return [member.report for member in self.members if member.report is not None]

    def _watch(self, look: Look) -> None:
        looked = time.monotonic()
        while away := [member for member in self.members if not member.inbox.closed]:
            heard = wait([member.inbox for member in away], _TICK)
            for member in away:
                if member.inbox in heard:
                    self._hear(member)
                else:
                    self._watch_over(member)
            if self._is_over():
                self.board.declare_over()
            if time.monotonic() - looked >= _LOOK_EVERY:
                look()
                looked = time.monotonic()

    def _watch_over(self, member: _Member) -> None:
        """Kill a worker that does not come to the end of a page, or needs too much memory for it."""
        seconds = self.board.reading_for(member.number)
        if seconds < _TICK:
            member.before = math.inf
            return
        limits, resident = self.assignment.settings.parse, resident_bytes(member.process.pid)
        member.before = min(member.before, resident)
        grown = (resident - member.before) / 1_000_000
        if seconds > limits.seconds * PATIENCE or grown > limits.memory_mb:
            url = self.board.reading(member.number)
            words = "worker %d has been reading %s for %.1f s, has grown by %d MB, and is killed"
            logger.info(words, member.number, url, seconds, grown)
            member.process.kill()
            member.process.join()

    def _hear(self, member: _Member) -> None:
        """A worker has something to say: its report, its failure, or, by hanging up, that it is dead."""
        try:
            said = member.inbox.recv()
        except (EOFError, OSError):
            member.inbox.close()
            member.process.join()
            self._replace(member)
            return
        member.inbox.close()
        if isinstance(said, Report):
            member.report = said
        else:
            self._fail(said)

    def _fail(self, failure: PeriplusError) -> None:
        if self.failure is None:
            self.failure = failure
            self.board.ask_to_stop()

    # -- succession ---------------------------------------------------------------------------------------------

    def _replace(self, member: _Member) -> None:
        """Let another worker go on where a dead one stopped, unless all are to stop anyway."""
        page = self.board.reading(member.number)
        logger.info(
            "worker %d (process %s) ended with %s%s",
            member.number,
            member.process.pid,
            member.process.exitcode,
            f" while it was reading {page}" if page else "",
        )
        self._bury(member)
        if self.failure is not None or self.board.stop:
            return
        if member.in_vain >= _DEATHS_IN_VAIN:
            self._fail(_hopeless(member, page))
            return
        if page is not None:
            self.suspects[page] += 1
        heir = replace(self.assignment, after_kill=True, died=member.deaths, suspects=dict(self.suspects))
        member.process, member.inbox = self._fork(heir, member.number)

    def _bury(self, member: _Member) -> None:
        """Count what a dead worker had acknowledged, and nothing else; its connections are closed."""
        run_id, number = self.assignment.run_id, member.number
        with self._catalog() as catalog:
            summary = catalog.worker_summary(run_id, number)
        commits, idle = self.board.told(number, Metric.COMMITS), self.board.told(number, Metric.IDLE)
        member.in_vain = 1 if idle or commits > member.commits else member.in_vain + 1
        member.commits = commits
        member.deaths += 1
        self.assignment.addresses.forget_worker(number)
        self.board.bury(number, fetched=summary.get("fetched", 0), size=summary.get("bytes", 0))
        so_far = summary or RunCounters(run_id, self.assignment.started).summary(self.assignment.started)
        member.report = Report(Ending.INTERRUPTED, so_far, {})  # until another takes its place, and says more

    def _is_over(self) -> bool:
        """Whether no worker has anything left, and no letter lies about.

        Looked at twice, with the inbox between: who was idle both times and never awoke has posted no letter meanwhile.
        """
        awakened = self.board.all(Metric.AWAKENED)
        if self.board.is_over or not self.board.has_settled():
            return False
        with self._catalog() as catalog:
            if catalog.forwarded_urls(0, 1):
                return False
        return self.board.has_settled() and self.board.all(Metric.AWAKENED) == awakened

    @contextmanager
    def _catalog(self) -> Iterator[Catalog]:
        """A connection for a moment: a worker may have to be forked at any time."""
        with closing(Catalog(self.assignment.collection.catalog)) as catalog:
            yield catalog


def _hopeless(member: _Member, page: str | None) -> WorkerDied:
    return WorkerDied(
        f"{_DEATHS_IN_VAIN} workers of the crawl died one after the other",
        f"the last one ended with {member.process.exitcode}{f' while it was reading {page}' if page else ''}",
        "Everything acknowledged is kept; the same command continues.",
    )


def _work_aside(assignment: Assignment, board: SharedState, number: int, outbox: Connection, parent: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all; the parent passes it on
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it died before we asked to die with it
    try:
        run_worker = load_worker()
        outbox.send(run_worker(assignment, board, number, None))
    except PeriplusError as error:
        outbox.send(error)
    except Exception as error:
        traceback.print_exc()
        outbox.send(PeriplusError(f"worker {number} failed", f"{type(error).__name__}: {error}"))

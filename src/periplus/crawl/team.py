"""How do several workers crawl together?

The process that was asked to crawl becomes the parent of N workers, forked before it has made a thread or opened the
catalog. It does not crawl: it passes on Ctrl-C, shows progress, and sends everybody home when nobody has anything left.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

import uvloop

from periplus.crawl.assembly import Assignment, Report, work
from periplus.crawl.board import Board, Figure
from periplus.errors import PeriplusError, WorkerDied
from periplus.store.catalog import Catalog

_TICK = 0.02  # seconds between two looks at the board
_LOOK_EVERY = 0.5  # seconds between two looks at the progress
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def crawl_together(assignment: Assignment, board: Board, look: Callable[[], None]) -> list[Report]:
    """Run every worker of the board to its end; *look* is called now and then."""
    team = _Team(assignment, board)
    with _passing_on_signals(board):
        team.set_out()
        return team.see_home(look)


@dataclass(slots=True)
class _Member:
    process: BaseProcess
    inbox: Connection
    report: Report | None = None


@dataclass(slots=True)
class _Team:
    assignment: Assignment
    board: Board
    members: list[_Member] = field(default_factory=list)
    failure: PeriplusError | None = None

    def set_out(self) -> None:
        context = multiprocessing.get_context("fork")
        for number in range(self.board.workers):
            inbox, outbox = context.Pipe(duplex=False)
            process = context.Process(
                target=_work_aside, args=(self.assignment, self.board, number, outbox, os.getpid())
            )
            process.start()
            outbox.close()
            self.members.append(_Member(process, inbox))

    def see_home(self, look: Callable[[], None]) -> list[Report]:
        try:
            # Opened after the fork, because a connection must not cross it.
            with closing(Catalog(self.assignment.collection.catalog)) as catalog:
                self._watch(catalog, look)
        except BaseException:
            self.board.ask_to_stop()  # nobody would ever tell the workers that the crawl is over
            raise
        finally:
            for member in self.members:
                member.process.join()
        if self.failure is not None:
            raise self.failure
        return [member.report for member in self.members if member.report is not None]

    def _watch(self, catalog: Catalog, look: Callable[[], None]) -> None:
        looked = time.monotonic()
        while away := [member for member in self.members if not member.inbox.closed]:
            heard = wait([member.inbox for member in away], _TICK)
            for member in away:
                if member.inbox in heard:
                    self._hear(member)
            if self._is_over(catalog):
                self.board.declare_over()
            if time.monotonic() - looked >= _LOOK_EVERY:
                look()
                looked = time.monotonic()

    def _hear(self, member: _Member) -> None:
        """A worker has something to say: its report, its failure, or, by hanging up, that it was killed."""
        try:
            said = member.inbox.recv()
        except EOFError:
            member.process.join()
            said = WorkerDied(
                "a worker of the crawl died",
                f"process {member.process.pid} ended with {member.process.exitcode}",
                "Everything acknowledged is kept; the same command continues.",
            )
        if isinstance(said, Report):
            member.report = said
        elif self.failure is None:
            self.failure = said
            self.board.ask_to_stop()
        member.inbox.close()

    def _is_over(self, catalog: Catalog) -> bool:
        """Whether no worker has anything left, and no letter lies about.

        Looked at twice, with the inbox between: who was idle both times and never awoke has posted no letter meanwhile.
        """
        awakened = self.board.all(Figure.AWAKENED)
        if not self.board.has_settled() or catalog.letters(0, 1):
            return False
        return self.board.has_settled() and self.board.all(Figure.AWAKENED) == awakened


def _work_aside(assignment: Assignment, board: Board, number: int, outbox: Connection, parent: int) -> None:
    """The life of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends Ctrl-C to all; the parent passes it on
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it died before we asked to die with it
    try:
        outbox.send(uvloop.run(work(assignment, board, number)))
    except PeriplusError as error:
        outbox.send(error)
    except Exception as error:
        traceback.print_exc()
        outbox.send(PeriplusError(f"worker {number} failed", f"{type(error).__name__}: {error}"))


@contextmanager
def _passing_on_signals(board: Board) -> Iterator[None]:
    """Ctrl-C once drains all workers, twice stops them now."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: board.ask_to_stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)

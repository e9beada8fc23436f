"""Starts one child process of `periplus up`, and receives what it has to say at its end.

A child is forked: the supervisor has no threads, and loads none of the libraries of its children. A child dies with the
supervisor. It ignores Ctrl-C, which the terminal sends to all processes; the supervisor passes it on in order.
"""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from periplus.errors import PeriplusError

logger = logging.getLogger("periplus.live")

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended."""

    exit_code: int | None
    result: Any = None  # what its work returned
    error: PeriplusError | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the child has done its work, so that it need not be started again."""
        return self.error is None and self.exit_code == 0

    @property
    def why(self) -> str:
        """The reason in a few words."""
        if self.error is not None:
            return str(self.error)
        if self.exit_code is not None and self.exit_code < 0:
            return f"killed by {signal.Signals(-self.exit_code).name}"
        return f"exit code {self.exit_code}"


class ChildProcess:
    """A running child."""

    def __init__(self, process: BaseProcess, inbox: Connection) -> None:
        self._process, self.inbox = process, inbox

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    def signal(self, number: signal.Signals) -> None:
        """Send a signal; a child that has just ended needs none."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def ended(self) -> Ended:
        """Receive the last message of a child whose inbox is readable, and wait for its end."""
        try:
            message = self.inbox.recv()
        except (EOFError, OSError):
            message = None
        self.inbox.close()
        self._process.join()
        error = message if isinstance(message, PeriplusError) else None
        return Ended(self._process.exitcode, None if error else message, error)


def start_child(name: str, work: Callable[[], Any], nice: int) -> ChildProcess:
    """Fork a child that does *work*; the result of *work* must be picklable."""
    context = multiprocessing.get_context("fork")
    inbox, outbox = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, outbox, os.getpid(), nice), name=f"periplus-{name}")
    process.start()
    outbox.close()
    return ChildProcess(process, inbox)


def _run(work: Callable[[], Any], outbox: Connection, parent: int, nice: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # until the work has a handler of its own
    signal.setitimer(signal.ITIMER_REAL, 0)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # the supervisor died before the call above
    with suppress(OSError):
        os.nice(nice)
    try:
        outbox.send(work())
    except PeriplusError as error:
        logger.error("%s", error)  # noqa: TRY400  # one line
        outbox.send(error)
    except Exception as error:
        logger.error("%s", traceback.format_exc())  # noqa: TRY400  # the log file escapes control characters
        outbox.send(PeriplusError("internal error", f"{type(error).__name__}: {error}"))

"""How is a document read that may take its reader down?

In a process of its own, fenced in and killable. It is kept for the next document, because starting one costs as much as
reading hundreds of them. A document that brings a used process down is tried again in a fresh one, so that what is
said about it never depends on the documents before it.
"""

from __future__ import annotations

import math
import os
import resource
import selectors
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

from periplus.model import Page, Reason, Response
from periplus.parse.pdf_page import DocumentProblem
from periplus.parse.sandbox.protocol import (
    ANSWER,
    LONGEST_ANSWER,
    ORDER,
    RULES,
    ParseRequest,
    ParseResponse,
    ParseRules,
    framed,
    received,
)

PATIENCE = 6  # seconds of waiting for each second of computing: the machine may be busy
_MUCH = 0.3  # of the memory allowed: a process that died with so much died of it
_TRIES = 10  # at a document, while others kill its reader
_START = 60.0  # seconds
_WEIGHED_EVERY = 0.02  # seconds between two looks at how much memory it takes
_LAST_MOMENT = 5.0  # seconds from the end of the pipes to the end of the process


_BY_OTHERS = frozenset({signal.SIGKILL, signal.SIGTERM})  # signals that say nothing about a document


class Sandbox:
    """Keeps one fenced-in process and hands it documents; may be shared by threads, which then wait for each other."""

    def __init__(self, rules: ParseRules) -> None:
        self._rules = rules
        self._seconds, self._memory = rules.settings.seconds, rules.settings.memory_mb << 20
        self._cell: _Cell | None = None
        self._was_killed = False  # by somebody else, which says nothing about the document
        self._lock = threading.Lock()

    def read(self, response: Response, *, closely: bool) -> Page | DocumentProblem:
        """What is on the page, or why nothing can be had of it; never fails and never takes long."""
        order = ParseRequest(response.url, response.headers, response.truncated, closely)
        with self._lock:
            for _ in range(_TRIES):
                fresh = self._cell is None
                answer = self._attempt(order, response.body)
                if not fresh and isinstance(answer, Page) and answer.problem is Reason.PARSE_MEMORY:
                    self._drop()  # the documents before it may have left too little
                elif self._cell is not None or (fresh and not self._was_killed):
                    break
            return answer

    @property
    def fenced(self) -> bool:
        """Whether the kernel filters the system calls of the process; otherwise only its limits hold."""
        with self._lock:
            return self._ready().fenced

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        self._drop()

    def _attempt(self, order: ParseRequest, body: bytes) -> Page | DocumentProblem:
        try:
            return self._ready().read(order, body, self._seconds)
        except TimeoutError:
            self._drop()
            self._was_killed = False
            return DocumentProblem(Reason.PARSE_TIME, f"not done after {self._seconds * PATIENCE:g} s")
        except (EOFError, OSError, ValueError):
            return self._post_mortem()

    def _ready(self) -> _Cell:
        if self._cell is None:
            self._cell = _Cell(self._rules, self._seconds * PATIENCE)
        return self._cell

    def _post_mortem(self) -> DocumentProblem:
        cell, self._cell = self._cell, None
        self._was_killed = True
        if cell is None:
            return DocumentProblem(Reason.PARSE_CRASH, "the process that reads documents cannot be started")
        status = cell.end(dying=True)
        self._was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) in _BY_OTHERS
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return DocumentProblem(Reason.PARSE_TIME, f"not done after {self._seconds:g} s of processor time")
        if cell.largest > self._memory * _MUCH:
            return DocumentProblem(Reason.PARSE_MEMORY, f"it needs more than {self._memory >> 20} MiB")
        return DocumentProblem(Reason.PARSE_CRASH, f"its reader ended with {os.waitstatus_to_exitcode(status)}")

    def _drop(self) -> None:
        cell, self._cell = self._cell, None
        if cell is not None:
            cell.end()


class _Cell:
    """The process, and the pipes to it."""

    def __init__(self, rules: ParseRules, patience: float) -> None:
        self._patience = patience
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _program()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            process_group=0,  # a terminal sends Ctrl-C to its whole group; pages under way are still read
        )
        self._used = 0.0  # seconds of processor time
        self.largest = 0  # bytes of memory; rusage would tell the size of this process if that is larger
        deadline = time.monotonic() + _START
        try:
            self._send(framed(RULES.dump_json(rules)), deadline)
            self.fenced = self._answer(deadline).fenced
        except BaseException:
            self.end()
            raise

    def read(self, order: ParseRequest, body: bytes, seconds: float) -> Page:
        deadline = time.monotonic() + self._patience
        allowed = math.ceil(self._used + seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        self._send(framed(ORDER.dump_json(order)) + framed(body), deadline)
        answer = self._answer(deadline)
        if answer.page is None:
            raise ValueError("no answer to the question")
        self._used = answer.seconds
        return answer.page

    def end(self, *, dying: bool = False) -> int:
        """Kill it, whatever it does; one that is *dying* is given a moment, because how it ends tells why."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        deadline = time.monotonic() + (_LAST_MOMENT if dying else 0)
        ended, status = os.waitpid(self._process.pid, os.WNOHANG)
        while not ended and time.monotonic() < deadline:
            time.sleep(0.001)
            ended, status = os.waitpid(self._process.pid, os.WNOHANG)
        if not ended:
            self._process.kill()
            _, status = os.waitpid(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return status

    def _send(self, message: bytes, deadline: float) -> None:
        pipe, rest = _unblocked(self._process.stdin), memoryview(message)
        while rest:
            self._wait(pipe, selectors.EVENT_WRITE, deadline)
            rest = rest[os.write(pipe, rest) :]

    def _answer(self, deadline: float) -> ParseResponse:
        return ANSWER.validate_json(received(partial(self._exactly, deadline), LONGEST_ANSWER))

    def _exactly(self, deadline: float, length: int) -> bytes:
        pipe = _unblocked(self._process.stdout)
        parts = []
        while length:
            self._wait(pipe, selectors.EVENT_READ, deadline)
            parts.append(os.read(pipe, length))
            if not parts[-1]:
                raise EOFError
            length -= len(parts[-1])
        return b"".join(parts)

    def _wait(self, pipe: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, event)
            while not selector.select(min(max(deadline - time.monotonic(), 0), _WEIGHED_EVERY)):
                self._weigh()
                if time.monotonic() >= deadline:
                    raise TimeoutError

    def _weigh(self) -> None:
        with suppress(OSError, IndexError):  # it may have just ended
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
            self.largest = max(self.largest, pages * resource.getpagesize())


def _program() -> str:
    """What the process runs: our own modules, from where we have them, whatever its surroundings say."""
    places = [place for place in sys.path if place]
    return f"import sys; sys.path[:] = {places!r}; from periplus.parse.sandbox.child import main; main()"


def _unblocked(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()

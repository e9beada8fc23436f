"""How is a document read that may take its reader down?

In a process of its own, fenced in and killable. It is kept for the next document, because starting one costs as much as
reading hundreds of sheets. A document that brings a used process down is tried again in a fresh one, so that what is
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
from dataclasses import dataclass
from typing import IO, Any

import orjson

from periplus.model import Reason
from periplus.parse.paper import LENGTH, Paper

_PATIENCE = 6  # seconds of waiting for each second of computing: the machine may be busy
_MUCH = 0.3  # of the memory allowed: a process that died with so much died of it
_LONGEST_ANSWER = 64 << 20
_TRIES = 10  # at a document, while others kill its reader
_START = 60.0  # seconds
_LAST_MOMENT = 5.0  # seconds from the end of the pipes to the end of the process


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a document gave nothing."""

    reason: Reason
    detail: str


class Warden:
    """Keeps one fenced-in process and hands it documents; may be shared by threads, which then wait for each other."""

    def __init__(self, seconds: float, memory: int) -> None:
        """*seconds* of processor time a document, *memory* in bytes."""
        self._seconds, self._memory = seconds, memory
        self._cell: _Cell | None = None
        self._was_killed = False  # by somebody else, which says nothing about the document
        self._lock = threading.Lock()

    def read(self, body: bytes) -> Paper | Trouble:
        """What the document says, or why nothing can be had of it; never fails and never takes long."""
        with self._lock:
            for _ in range(_TRIES):
                fresh = self._cell is None
                answer = self._attempt(body)
                if self._cell is not None or (fresh and not self._was_killed):
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

    def _attempt(self, body: bytes) -> Paper | Trouble:
        try:
            return self._ready().read(body, self._seconds)
        except TimeoutError:
            self._drop()
            self._was_killed = False
            return Trouble(Reason.PARSE_TIME, f"not done after {self._seconds * _PATIENCE:g} s")
        except (EOFError, OSError, ValueError):
            return self._post_mortem()

    def _ready(self) -> _Cell:
        if self._cell is None:
            self._cell = _Cell(self._memory, self._seconds * _PATIENCE)
        return self._cell

    def _post_mortem(self) -> Trouble:
        cell, self._cell = self._cell, None
        self._was_killed = True
        if cell is None:
            return Trouble(Reason.PARSE_CRASH, "the process that reads documents cannot be started")
        status, usage = cell.end(dying=True)
        self._was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return Trouble(Reason.PARSE_TIME, f"not done after {self._seconds:g} s of processor time")
        if usage.ru_maxrss * 1024 > self._memory * _MUCH:
            return Trouble(Reason.PARSE_MEMORY, f"it needs more than {self._memory >> 20} MiB")
        return Trouble(Reason.PARSE_CRASH, f"its reader ended with {os.waitstatus_to_exitcode(status)}")

    def _drop(self) -> None:
        cell, self._cell = self._cell, None
        if cell is not None:
            cell.end()


class _Cell:
    """The process, and the pipes to it."""

    def __init__(self, memory: int, patience: float) -> None:
        self._patience = patience
        command = [sys.executable, "-I", "-m", "periplus.parse.cell", str(memory)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
        self._used = 0.0  # seconds of processor time
        try:
            self.fenced = bool(self._answer(time.monotonic() + _START)["fenced"])
        except BaseException:
            self.end()
            raise

    def read(self, body: bytes, seconds: float) -> Paper | Trouble:
        deadline = time.monotonic() + self._patience
        allowed = math.ceil(self._used + seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        self._ask(body, deadline)
        answer = self._answer(deadline)
        self._used = answer["seconds"]
        if "reason" in answer:
            return Trouble(Reason(answer["reason"]), answer["detail"])
        return _paper(answer["paper"])

    def end(self, *, dying: bool = False) -> tuple[int, resource.struct_rusage]:
        """Kill it, whatever it does; one that is *dying* is given a moment, because how it ends tells why."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        deadline = time.monotonic() + (_LAST_MOMENT if dying else 0)
        ended, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        while not ended and time.monotonic() < deadline:
            time.sleep(0.001)
            ended, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        if not ended:
            self._process.kill()
            _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return status, usage

    def _ask(self, body: bytes, deadline: float) -> None:
        pipe = _unblocked(self._process.stdin)
        message = memoryview(LENGTH.pack(len(body)) + body)
        while message:
            _wait(pipe, selectors.EVENT_WRITE, deadline)
            message = message[os.write(pipe, message) :]

    def _answer(self, deadline: float) -> dict[str, Any]:
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size, deadline))
        if length > _LONGEST_ANSWER:
            raise ValueError("the answer is too long")
        return dict(orjson.loads(self._exactly(length, deadline)))

    def _exactly(self, length: int, deadline: float) -> bytes:
        pipe = _unblocked(self._process.stdout)
        parts = []
        while length:
            _wait(pipe, selectors.EVENT_READ, deadline)
            parts.append(os.read(pipe, length))
            if not parts[-1]:
                raise EOFError
            length -= len(parts[-1])
        return b"".join(parts)


def _unblocked(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()


def _wait(pipe: int, event: int, deadline: float) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, event)
        if not selector.select(max(deadline - time.monotonic(), 0)):
            raise TimeoutError


def _paper(said: dict[str, Any]) -> Paper:
    headings, links = said.pop("headings"), said.pop("links")
    return Paper(**said, headings=tuple(headings), links=tuple((href, words) for href, words in links))

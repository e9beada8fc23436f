"""Parses documents in a sandboxed child process, with limits on CPU time, memory and system calls.

The child is kept for the next document, because starting a process costs as much as parsing hundreds of documents.
When a child that has parsed other documents crashes, a new child parses the same document again. So the result never
depends on earlier documents.
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
from periplus.parse.formats.pdf_page import DocumentProblem
from periplus.parse.sandbox.protocol import (
    MAX_RESPONSE,
    REQUEST,
    RESPONSE,
    RULES,
    ParseRequest,
    ParseResponse,
    ParseRules,
    framed,
    received,
)

PATIENCE = 6  # seconds of wall-clock time per second of CPU time: the machine may be busy
_MEMORY_SHARE = 0.3  # of the memory limit: a process that crashed above it ran out of memory
_MAX_ATTEMPTS = 10  # per document, while other programs kill the child
_START_TIMEOUT = 60.0  # seconds
_MEMORY_CHECK_INTERVAL = 0.02  # seconds
_EXIT_GRACE = 5.0  # seconds from the end of the pipes to the end of the process
_EXTERNAL_SIGNALS = frozenset({signal.SIGKILL, signal.SIGTERM})  # sent by other programs, not caused by a document


class Sandbox:
    """Runs one sandboxed child process and sends it documents. Thread-safe: a lock serialises the calls."""

    def __init__(self, rules: ParseRules) -> None:
        self._rules = rules
        self._seconds, self._memory = rules.settings.seconds, rules.settings.memory_mb << 20
        self._process: _SandboxProcess | None = None
        self._was_killed = False  # by another program, so the document is not the cause
        self._lock = threading.Lock()

    def read(self, response: Response, *, full: bool) -> Page | DocumentProblem:
        """Parse a response; never raises, and returns within the time limit."""
        request = ParseRequest(response.url, response.headers, response.truncated, full)
        with self._lock:
            for _ in range(_MAX_ATTEMPTS):
                fresh = self._process is None
                result = self._attempt(request, response.body)
                if not fresh and isinstance(result, Page) and result.problem is Reason.PARSE_MEMORY:
                    self._end_process()  # earlier documents may have left too little memory
                elif self._process is not None or (fresh and not self._was_killed):
                    break
            return result

    @property
    def has_seccomp(self) -> bool:
        """Whether seccomp filters the system calls of the child; otherwise only the resource limits apply."""
        with self._lock:
            return self._running_process().has_seccomp

    def close(self) -> None:
        """End the child process."""
        with self._lock:
            self._end_process()

    def __del__(self) -> None:
        self._end_process()

    def _attempt(self, request: ParseRequest, body: bytes) -> Page | DocumentProblem:
        try:
            return self._running_process().read(request, body, self._seconds)
        except TimeoutError:
            self._end_process()
            self._was_killed = False
            return DocumentProblem(Reason.PARSE_TIME, f"not parsed after {self._seconds * PATIENCE:g} s")
        except (EOFError, OSError, ValueError):
            return self._crash_problem()

    def _running_process(self) -> _SandboxProcess:
        if self._process is None:
            self._process = _SandboxProcess(self._rules, self._seconds * PATIENCE)
        return self._process

    def _crash_problem(self) -> DocumentProblem:
        process, self._process = self._process, None
        self._was_killed = True
        if process is None:
            return DocumentProblem(Reason.PARSE_CRASH, "the sandbox process cannot be started")
        status = process.end(crashed=True)
        self._was_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) in _EXTERNAL_SIGNALS
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            return DocumentProblem(Reason.PARSE_TIME, f"not parsed after {self._seconds:g} s of CPU time")
        if process.peak_memory > self._memory * _MEMORY_SHARE:
            return DocumentProblem(Reason.PARSE_MEMORY, f"parsing needs more than {self._memory >> 20} MiB")
        return DocumentProblem(Reason.PARSE_CRASH, f"the sandbox exited with {os.waitstatus_to_exitcode(status)}")

    def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()


class _SandboxProcess:
    """The child process and its pipes."""

    def __init__(self, rules: ParseRules, timeout: float) -> None:
        self._timeout = timeout
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _program()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            process_group=0,  # a terminal sends Ctrl-C to its whole group; pages in progress are still parsed
        )
        self._used = 0.0  # seconds of CPU time
        self.peak_memory = 0  # bytes; rusage would report the size of the parent if that is larger
        deadline = time.monotonic() + _START_TIMEOUT
        try:
            self._send(framed(RULES.dump_json(rules)), deadline)
            self.has_seccomp = self._receive_response(deadline).has_seccomp
        except BaseException:
            self.end()
            raise

    def read(self, request: ParseRequest, body: bytes, seconds: float) -> Page:
        deadline = time.monotonic() + self._timeout
        allowed = math.ceil(self._used + seconds)
        resource.prlimit(self._process.pid, resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        self._send(framed(REQUEST.dump_json(request)) + framed(body), deadline)
        response = self._receive_response(deadline)
        if response.page is None:
            raise ValueError("the response has no page")
        self._used = response.seconds
        return response.page

    def end(self, *, crashed: bool = False) -> int:
        """Kill the process and return its exit status; *crashed*: first wait for the status that tells the cause."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        deadline = time.monotonic() + (_EXIT_GRACE if crashed else 0)
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

    def _receive_response(self, deadline: float) -> ParseResponse:
        return RESPONSE.validate_json(received(partial(self._receive, deadline), MAX_RESPONSE))

    def _receive(self, deadline: float, length: int) -> bytes:
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
            while not selector.select(min(max(deadline - time.monotonic(), 0), _MEMORY_CHECK_INTERVAL)):
                self._measure_memory()
                if time.monotonic() >= deadline:
                    raise TimeoutError

    def _measure_memory(self) -> None:
        with suppress(OSError, IndexError):  # the process may have just ended
            pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
            self.peak_memory = max(self.peak_memory, pages * resource.getpagesize())


def _program() -> str:
    """The code that the child runs; it imports from the same paths as this process, whatever its environment says."""
    places = [place for place in sys.path if place]
    return f"import sys; sys.path[:] = {places!r}; from periplus.parse.sandbox.child import main; main()"


def _unblocked(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    os.set_blocking(pipe.fileno(), False)
    return pipe.fileno()

"""Counts the login attempts of the last minute, and remembers which sessions were ended by a logout.

All processes of a site share both in one small file, also across restarts. It is locked while it is read or written. A
file that cannot be used is reported once; then each process counts for itself.
"""

from __future__ import annotations

import fcntl
import logging
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

import orjson

from periplus.site.rate_limit import client_network

ATTEMPTS = 5  # a minute, of one client
ALL_ATTEMPTS = 30  # a minute, of all clients
_MINUTE = 60.0  # seconds
_VERSION = 1
_LARGEST = 1 << 20  # bytes of the file that are read
_log = logging.getLogger("periplus.site")


@dataclass(slots=True)
class _Content:
    attempts: list[tuple[float, str]] = field(default_factory=list)  # when, and of which client
    ended: dict[str, int] = field(default_factory=dict)  # sessions, and when they would have ended by themselves

    def forget_old(self, now: float) -> None:
        self.attempts = [(at, client) for at, client in self.attempts if abs(now - at) < _MINUTE]
        self.ended = {session: end for session, end in self.ended.items() if now < end}

    def wait(self, now: float, client: str) -> int:
        """Seconds until this client may try again; 0: now."""
        own = [at for at, other in self.attempts if other == client]
        every = [at for at, _ in self.attempts]
        frees = [times[-most] for times, most in ((own, ATTEMPTS), (every, ALL_ATTEMPTS)) if len(times) >= most]
        return max(math.ceil(max(frees) + _MINUTE - now), 1) if frees else 0


class LoginState:
    """The login attempts and ended sessions of a site."""

    def __init__(self, path: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        """*path*: the file that the processes share; None: this process only."""
        self._path, self._clock = path, clock
        self._own, self._lock = _Content(), Lock()

    def attempt(self, client: str) -> int:
        """Counts a login attempt, and returns 0; after too many, counts nothing and returns the seconds to wait."""
        now, network = self._clock(), client_network(client)
        with self._changing() as content:
            wait = content.wait(now, network)
            if not wait:
                content.attempts.append((now, network))
        return wait

    def succeeded(self, client: str) -> None:
        """Takes the last attempt of a client back, because it had the right password."""
        network = client_network(client)
        with self._changing() as content:
            own = [attempt for attempt in content.attempts if attempt[1] == network]
            if own:
                content.attempts.remove(own[-1])

    def end(self, session: str, end: int) -> None:
        """Remembers a logout; *end*: when the session would have ended by itself."""
        with self._changing() as content:
            content.ended[session] = end

    def has_ended(self, session: str) -> bool:
        """Whether the person of a session has logged out."""
        with self._changing(is_reading=True) as content:
            return session in content.ended

    @contextmanager
    def _changing(self, *, is_reading: bool = False) -> Iterator[_Content]:
        """Yields the content; writes it afterwards."""
        descriptor = self._open()
        if descriptor is None:
            with self._lock:
                self._own.forget_old(self._clock())
                yield self._own
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH if is_reading else fcntl.LOCK_EX)
            content = _decoded(os.pread(descriptor, _LARGEST, 0))
            content.forget_old(self._clock())
            yield content
            if not is_reading:
                self._write(descriptor, content)
        finally:
            os.close(descriptor)

    def _open(self) -> int | None:
        if self._path is None:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            self._do_without_file(error)
            return None

    def _write(self, descriptor: int, content: _Content) -> None:
        text = _encoded(content)
        try:
            os.pwrite(descriptor, text, 0)
            os.ftruncate(descriptor, len(text))
        except OSError as error:
            self._own = content
            self._do_without_file(error)

    def _do_without_file(self, error: OSError) -> None:
        _log.error("each server process counts logins for itself: %s: %s", self._path, error.strerror)
        self._path = None


def _encoded(content: _Content) -> bytes:
    return orjson.dumps({"version": _VERSION, "attempts": content.attempts, "ended": content.ended}) + b"\n"


def _decoded(text: bytes) -> _Content:
    """The content of the file; empty when it is new or damaged. Bytes after the first line were not truncated yet."""
    try:
        found = orjson.loads(text.partition(b"\n")[0])
        if found["version"] != _VERSION:
            return _Content()
        attempts = [(float(at), str(client)) for at, client in found["attempts"]]
        return _Content(attempts, {str(session): int(end) for session, end in found["ended"].items()})
    except (ValueError, TypeError, KeyError, AttributeError):
        return _Content()

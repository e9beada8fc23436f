"""Records every request and connection that a test web received."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Self

from .message import Request


@dataclass(frozen=True, slots=True)
class Entry:
    """One request and its result. Times are time.monotonic(), comparable between processes."""

    number: int  # in order of arrival
    request: Request
    started: float  # when the last byte of its head arrived
    finished: float | None = None  # when the last byte was sent, or the client went away; None: in flight
    status: int = 0  # 0: nothing was sent yet, or something that is not HTTP
    complete: bool = False  # the whole answer was sent

    @property
    def host(self) -> str:
        return self.request.host

    @property
    def method(self) -> str:
        return self.request.method

    @property
    def path(self) -> str:
        """Path and query, as the client wrote them."""
        return self.request.path

    @property
    def scheme(self) -> str:
        return self.request.scheme

    @property
    def url(self) -> str:
        return self.request.url

    @property
    def headers(self) -> Mapping[str, str]:
        """Request headers, names in lower case."""
        return self.request.headers

    @property
    def user_agent(self) -> str:
        return self.request.headers.get("user-agent", "")

    @property
    def connection(self) -> int:
        return self.request.connection


@dataclass(frozen=True, slots=True)
class Connection:
    """One TCP connection; over TLS it counts from the end of the handshake."""

    number: int
    scheme: str
    opened: float
    closed: float | None = None  # None: still open
    address: str = ""  # that the client connected to


class RequestLog:
    """Every request and connection a web has seen; safe to read from any thread while it grows.

    With a `file` every change is also a line there, so that another process can `read` it at any time.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._entries: dict[int, Entry] = {}
        self._connections: dict[int, Connection] = {}
        self._entry_numbers = count(1)
        self._connection_numbers = count(1)
        self._file = file.open("w", encoding="utf-8", buffering=1) if file else None

    @classmethod
    def read(cls, file: Path) -> Self:
        """Load the log that a web, possibly in another process, has written so far."""
        log = cls()
        for line in file.read_text(encoding="utf-8").split("\n")[:-1]:  # the last one may be half written
            record: dict[str, Any] = json.loads(line)
            if "request" in record:
                entry = Entry(**record | {"request": Request(**record["request"])})
                log._entries[entry.number] = entry
            else:
                log._connections[record["number"]] = Connection(**record)
        return log

    # Queries of tests

    def entries(self, host: str | None = None) -> list[Entry]:
        """All requests in order of arrival, robots.txt included."""
        with self._lock:
            entries = list(self._entries.values())
        return entries if host is None else [entry for entry in entries if entry.host == host]

    def paths(self, host: str) -> list[str]:
        """Requested paths of a host, in order, robots.txt included."""
        return [entry.path for entry in self.entries(host)]

    def count(self, host: str, path: str | None = None) -> int:
        """How many requests a host had, or one path (with its query) of it."""
        return sum(path is None or entry.path == path for entry in self.entries(host))

    def fetched(self, *, robots: bool = False) -> Counter[str]:
        """How often each URL was requested, with any result."""
        return Counter(entry.url for entry in self.entries() if robots or entry.path != "/robots.txt")

    def gaps(self, host: str) -> list[float]:
        """Seconds between the starts of consecutive requests to a host."""
        return [later.started - earlier.started for earlier, later in pairwise(self.entries(host))]

    def max_concurrent(self, host: str | None = None) -> int:
        """The largest number of requests that were in flight at one moment."""
        return _most_at_once((entry.started, entry.finished) for entry in self.entries(host))

    def connections(self, host: str | None = None) -> list[Connection]:
        """TCP connections in order of arrival; with a host, those that carried a request for it."""
        with self._lock:
            connections = list(self._connections.values())
        if host is None:
            return connections
        used = {entry.connection for entry in self.entries(host)}
        return [connection for connection in connections if connection.number in used]

    def max_connections(self, host: str) -> int:
        """The largest number of connections a host had open at one moment, idle ones included.

        A connection belongs to the host from its first request on: what was accepted before says no name.
        """
        first = {entry.connection: entry.started for entry in reversed(self.entries(host))}
        return _most_at_once((first[one.number], one.closed) for one in self.connections(host))

    def addresses(self) -> list[str]:
        """Every address that a client connected to."""
        return sorted({connection.address for connection in self.connections()})

    def gaps_at(self, address: str) -> list[float]:
        """Seconds between the starts of consecutive requests to an address, whatever their hosts."""
        there = {connection.number for connection in self.connections() if connection.address == address}
        entries = [entry for entry in self.entries() if entry.connection in there]
        return [later.started - earlier.started for earlier, later in pairwise(entries)]

    def max_connections_at(self, address: str) -> int:
        """The largest number of connections an address had open at one moment, idle ones included."""
        return _most_at_once((one.opened, one.closed) for one in self.connections() if one.address == address)

    def wait_for(self, requests: int, timeout: float = 10.0) -> None:
        """Return once this many requests have arrived since the start (or the last `clear`)."""
        deadline = time.monotonic() + timeout
        while len(self._entries) < requests:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{len(self._entries)} of {requests} requests came within {timeout} s")
            time.sleep(0.002)

    def clear(self) -> None:
        """Forget everything but the connections still open; the file keeps what it has."""
        with self._lock:
            self._entries.clear()
            self._connections = {n: one for n, one in self._connections.items() if one.closed is None}

    # Calls of the server

    def begin(self, request: Request) -> Entry:
        """Record a request that has arrived."""
        entry = Entry(next(self._entry_numbers), request, time.monotonic())
        with self._lock:
            self._entries[entry.number] = entry
        self._append(entry)
        return entry

    def finish(self, entry: Entry, status: int, complete: bool) -> None:
        """Record that the response was sent or aborted."""
        done = Entry(entry.number, entry.request, entry.started, time.monotonic(), status, complete)
        with self._lock:
            if entry.number in self._entries:  # not if the log was cleared meanwhile
                self._entries[entry.number] = done
        self._append(done)

    def connect(self, scheme: str, address: str = "") -> int:
        """Record a connection; requests refer to its number."""
        connection = Connection(next(self._connection_numbers), scheme, time.monotonic(), address=address)
        with self._lock:
            self._connections[connection.number] = connection
        self._append(connection)
        return connection.number

    def disconnect(self, number: int) -> None:
        """Record that the client or the server closed a connection; the first call counts."""
        with self._lock:
            connection = self._connections.get(number)
            if connection is None or connection.closed is not None:
                return
            connection = self._connections[number] = replace(connection, closed=time.monotonic())
        self._append(connection)

    def close(self) -> None:
        """Stop writing; the log stays readable."""
        if self._file:
            self._file.close()

    def _append(self, record: Entry | Connection) -> None:
        if self._file:
            self._file.write(json.dumps(record, default=_fields) + "\n")


def _fields(record: Any) -> dict[str, Any]:
    """A record as JSON; dataclasses.asdict copies deeply and takes ten times as long."""
    return {name: getattr(record, name) for name in record.__slots__}


def _most_at_once(intervals: Iterable[tuple[float, float | None]]) -> int:
    """Sweep over starts and ends; an end at the very moment of a start comes first."""
    moments: list[tuple[float, int]] = []
    for start, end in intervals:
        moments += [(start, 1), (math.inf if end is None else end, -1)]
    now = most = 0
    for _, change in sorted(moments):
        now += change
        most = max(most, now)
    return most

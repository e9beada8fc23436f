"""Keeps connections that were closed for the next user in the same process.

The console and `/metrics` open the catalog several times a second. A new connection costs a process of the server and
some milliseconds; a kept one costs one statement.
"""

from __future__ import annotations

import atexit
import os
import time
from threading import Lock

import psycopg
from psycopg.pq import TransactionStatus

from periplus.store.database.postgres.connection import Connection, is_lost

_MOST = 4  # idle connections to one database
_SECONDS = 30.0  # an idle connection is closed after this time, when the pool is next used
_CLEAN = b"RESET ALL; DISCARD TEMP"

_Key = tuple[int, str, bool]  # process, URL, read only: a forked process must not use connections of its parent


class ConnectionPool:
    """The idle connections of this process."""

    def __init__(self) -> None:
        self._idle: dict[_Key, list[tuple[float, Connection]]] = {}
        self._lock = Lock()

    def take(self, url: str, *, read_only: bool) -> Connection | None:
        """The connection that became idle last; None: there is none. The server may have closed it meanwhile."""
        self._close_old()
        with self._lock:
            idle = self._idle.get((os.getpid(), url, read_only))
            return idle.pop()[1] if idle else None

    def put(self, url: str, connection: Connection, *, read_only: bool) -> None:
        """Keep a connection without a transaction for the next user, or close it."""
        self._close_old()
        try:
            if is_lost(connection) or connection.info.transaction_status is not TransactionStatus.IDLE:
                connection.close()
                return
            connection.execute(_CLEAN)
        except psycopg.Error:
            connection.close()
            return
        with self._lock:
            idle = self._idle.setdefault((os.getpid(), url, read_only), [])
            if len(idle) < _MOST:
                idle.append((time.monotonic(), connection))
                return
        connection.close()

    def close(self) -> None:
        """Close every idle connection of this process."""
        self._close_old(0.0)

    def _close_old(self, seconds: float = _SECONDS) -> None:
        before, old = time.monotonic() - seconds, []
        with self._lock:
            for key, idle in self._idle.items():
                if key[0] == os.getpid():
                    old += [connection for since, connection in idle if since <= before]
                    idle[:] = [(since, connection) for since, connection in idle if since > before]
        for connection in old:
            connection.close()


POOL = ConnectionPool()
atexit.register(POOL.close)

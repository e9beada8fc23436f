"""Locks a fleet for one kind of writing: of several nodes, one at a time does it.

The server releases the lock when its connection ends, also by a restart. So a holder checks it before it commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import psycopg

from periplus.errors import CollectionLocked
from periplus.store.database.postgres.connection import connect, failure, place_of

_KEY = "hashtext(current_setting('search_path') || '.job.' || $1)"
_LOCK = "SELECT pg_try_advisory_lock({key})"
_SHARE = "SELECT pg_try_advisory_lock_shared({key})"
_OWNER = """SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pid <> pg_backend_pid()
  AND ((classid::bigint << 32) | objid::bigint) = {key}::bigint & x'ffffffffffffffff'::bigint LIMIT 1"""


@contextmanager
def job_lock(url: str, job: str, node: str, *, shared: bool = False, command: str = "") -> Iterator[Callable[[], None]]:
    """Hold the lock of a job during the block; a second holder gets an error that names the first.

    *shared*: several may hold it, but none alone. *command*: its name for the error; empty: that of the job. The server
    releases the lock of a process that was killed. Yields a function that raises `CollectionLocked` when the lock was
    lost; see `Database.guard`.
    """
    with closing(connect(url)) as connection:
        try:
            connection.execute(
                "SELECT set_config('application_name', $1, false)", (f"periplus {command or job} on {node}"[:63],)
            )
            row = connection.execute((_SHARE if shared else _LOCK).format(key=_KEY).encode(), (job,)).fetchone()
            owner = None
            if row != (True,):
                owner = connection.execute(_OWNER.format(key=_KEY).encode(), (job,)).fetchone()
        except psycopg.Error as error:
            raise failure(url, error) from error
        if row != (True,):
            other = owner[0] if owner else "another process"
            raise CollectionLocked(
                f"{place_of(url)} is in use", f"`{other}` is writing it", "Wait for it to end, or stop it."
            )

        def require_held() -> None:
            try:
                connection.execute("SELECT 1")  # the connection is there, and so is its lock
            except psycopg.Error as error:
                what, why = f"the lock of {place_of(url)} was lost", "the server has ended its connection"
                raise CollectionLocked(what, why, "Run the command again.") from error

        try:
            yield require_held
        finally:
            with suppress(psycopg.Error):  # at once: the server needs a moment to notice that a connection is closed
                connection.execute("SELECT pg_advisory_unlock_all()")

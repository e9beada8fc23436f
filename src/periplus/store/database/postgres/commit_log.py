"""Knows whether a transaction was committed whose connection was lost at its end.

Every transaction writes its number into the row of its session. After a lost connection, the row says whether the last
transaction was committed. The numbers of the server do not: after a crash, it gives them to other transactions.
"""

from __future__ import annotations

import secrets

from periplus.store.database.postgres.connection import Connection

_BEGIN = """BEGIN; INSERT INTO transactions (session, number) VALUES ('{session}', {number})
ON CONFLICT (session) DO UPDATE SET number = excluded.number, at = now()"""
# Waits for the transaction, which may still be running in the server: it has locked the row.
_LAST = """INSERT INTO transactions (session, number) VALUES ($1, 0)
ON CONFLICT (session) DO UPDATE SET at = now() RETURNING number"""
_REMOVE = "DELETE FROM transactions WHERE session = $1 OR at < now() - interval '1 day'"


class CommitLog:
    """The row of one session, which may use several connections one after the other."""

    def __init__(self) -> None:
        self._session, self._number = secrets.token_hex(8), 0

    def begin(self, connection: Connection) -> None:
        """Begin a transaction."""
        self._number += 1
        connection.execute(_BEGIN.format(session=self._session, number=self._number).encode())

    def has_committed(self, connection: Connection, seconds: float) -> bool:
        """Whether the last transaction, of a lost connection, was committed; waits for its end up to *seconds*."""
        connection.execute(f"SET lock_timeout = {int(seconds * 1000)}".encode())
        row = connection.execute(_LAST, (self._session,)).fetchone()
        connection.execute("RESET lock_timeout")
        return row == (self._number,)

    def remove(self, connection: Connection) -> None:
        """Remove the row, and those of sessions that were killed."""
        if self._number:
            connection.execute(_REMOVE, (self._session,))

"""Connects to a PostgreSQL server, and turns its errors into ours."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import conninfo, sql
from psycopg.adapt import Loader
from psycopg.types.numeric import Int8Dumper

from periplus.errors import CollectionError, DatabaseUnavailable, DiskFull, PeriplusError

SCHEMA = "periplus"  # of the tables, unless the URL sets a search_path
Connection = psycopg.Connection[tuple[Any, ...]]

_DEFAULTS = {  # a server that has vanished is noticed within half a minute
    "application_name": "periplus",
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
_CLOCK_SECONDS = 5.0  # dates of pages, and pauses of hosts that go to another node, are wrong by as much
_DISK_FULL = "53100"
_ADVICE = "\n\tIs the server running"  # of the library; ours says more
_IN_URL = re.compile(r"(://[^:/@\s]*:)([^\s]*)@")  # the user and the password
_REFUSED = {  # what the server says, when it is the user who must change something: the cause and the remedy
    "password authentication failed": ("user or password is wrong", "Correct them in `fleet.database`."),
    "no password supplied": ("the server wants a password", "Add the password to `fleet.database`."),
    "fe_sendauth": ("the server wants a password", "Add the password to `fleet.database`."),
    "no pg_hba.conf entry": ("the server does not admit this machine", "Add it to pg_hba.conf of the server."),
    "permission denied for": ("the user may not write there", "Grant the user CREATE on the database and its schema."),
}
_FULL = ("too many clients", "remaining connection slots", "too many connections")
_MISSING = ("database", "role")  # "... does not exist"


class _NumberLoader(Loader):
    """Reads a NUMERIC, such as the sum of integers, as a plain number."""

    def load(self, data: bytes | bytearray | memoryview) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def place_of(url: str) -> str:
    """The address of a database for messages: without password and options."""
    parts = conninfo.conninfo_to_dict(url)
    host, port = parts.get("host") or parts.get("hostaddr") or "localhost", str(parts.get("port") or "")
    address = quote(str(host), safe="/:,[]") + (f":{port}" if port.strip(",") else "")
    return f"postgresql://{address}/{parts.get('dbname') or ''}"


def connect(url: str, *, read_only: bool = False) -> Connection:
    """Open a connection; raises `DatabaseUnavailable` while no server answers, and other errors for good."""
    try:
        given: dict[str, Any] = dict(conninfo.conninfo_to_dict(url))
        options = _options(str(given.get("options") or ""), read_only=read_only)
        address = conninfo.make_conninfo(**_DEFAULTS | given | {"options": options})
        connection = psycopg.connect(address, autocommit=True, cursor_factory=psycopg.RawCursor)
    except psycopg.ProgrammingError as error:  # the URL
        raise CollectionError(
            "fleet.database is not the URL of a database", _plain(error, url), "Write postgresql://user@host/name."
        ) from None
    except psycopg.OperationalError as error:
        raise _no_connection(url, error) from None
    _adapt(connection)
    return connection


def clock_difference(connection: Connection) -> str:
    """How far the clock of this machine is from that of the server, if that is more than a few seconds."""
    row = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone()
    return clock_problem(time.time() - float(row[0])) if row else ""


def clock_problem(ahead: float) -> str:
    """A clock that is this many seconds ahead of that of the server, in words; empty when it is right enough."""
    if abs(ahead) < _CLOCK_SECONDS:
        return ""
    direction = "ahead of" if ahead > 0 else "behind"
    return f"the clock of this machine is {abs(ahead):,.0f} s {direction} that of the server"


def _options(given: str, *, read_only: bool) -> str:
    path = [] if "search_path" in given else [f"-c search_path={SCHEMA}"]
    return " ".join(filter(None, [given, *path, "-c default_transaction_read_only=on" if read_only else ""]))


def _adapt(connection: Connection) -> None:
    """Let all integers be of one type, so that a statement is prepared once."""
    connection.adapters.register_dumper(int, Int8Dumper)
    connection.adapters.register_dumper(bool, _IntegerDumper)
    connection.adapters.register_loader("numeric", _NumberLoader)


class _IntegerDumper(Int8Dumper):
    """Writes truth as 0 or 1, as SQLite does."""

    def dump(self, obj: Any) -> bytes:
        return b"1" if obj else b"0"


def is_lost(connection: Connection) -> bool:
    """Whether a connection cannot be used any more."""
    return connection.closed or connection.broken


def failure(url: str, error: psycopg.Error) -> PeriplusError:
    """Our error for an error of a statement; raises a bug of our own unchanged."""
    if isinstance(error, psycopg.OperationalError) and not isinstance(error, psycopg.errors.ProtocolViolation):
        if error.sqlstate == _DISK_FULL:
            return DiskFull(
                f"no space left on the disk of {place_of(url)}",
                _plain(error, url),
                "Acknowledged pages are safe: free some space and run the same command again.",
            )
        return DatabaseUnavailable(f"{place_of(url)} does not answer", _plain(error, url))
    if isinstance(error, psycopg.errors.InsufficientPrivilege | psycopg.errors.ReadOnlySqlTransaction):
        return CollectionError(
            f"{place_of(url)} cannot be written", _plain(error, url), "Grant the user all rights on the schema."
        )
    raise error


def _no_connection(url: str, error: psycopg.OperationalError) -> PeriplusError:
    text, place = _plain(error, url), place_of(url)
    if "does not exist" in text:
        what = next((kind for kind in _MISSING if f'{kind} "' in text), "database")
        command = "createdb" if what == "database" else "createuser"
        hint = f"Correct the {what} in `fleet.database`, or create it with `{command}`."
        return CollectionError(f"{place} cannot be opened", text, hint)
    for sign, (cause, remedy) in _REFUSED.items():
        if sign in text:
            return CollectionError(f"{place} cannot be opened", cause, remedy)
    if any(sign in text for sign in _FULL):
        hint = "Raise `max_connections` of the server, or run fewer workers."
        return DatabaseUnavailable(f"{place} has no free connection", text, hint)
    return DatabaseUnavailable(f"{place} cannot be reached", text)


def _plain(error: Exception, url: str) -> str:
    """The message of the library, without the password."""
    text = _IN_URL.sub(r"\1********@", str(error).partition(_ADVICE)[0].strip())
    for secret in _passwords(url):
        text = text.replace(secret, "********")
    return text


def _passwords(url: str) -> set[str]:
    """The password of a URL, as it is written there and as it is meant."""
    found = {match[2] for match in _IN_URL.finditer(url)}
    with suppress(psycopg.ProgrammingError):  # the URL has a mistake
        found.add(str(conninfo.conninfo_to_dict(url).get("password") or ""))
    return found - {""}


def identifier(name: str) -> str:
    """A name quoted for a statement."""
    return sql.Identifier(name).as_string()

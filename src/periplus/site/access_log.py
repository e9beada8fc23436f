"""Writes the access log: one line for each request in the combined format of Apache and nginx.

Queries are private, so by default a line has the path only, also in the Referer. Control characters, quotes and
backslashes are escaped, so a request cannot forge a line. Lines are written every half second. The file is opened anew
each time, so it can be rotated by renaming it.
"""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
from functools import lru_cache
from pathlib import Path

from starlette.types import Scope

from periplus.errors import UsageError

STDERR = "-"
_FLUSH_SECONDS = 0.5
_MOST_LINES = 1_000  # in memory
_LONGEST = 2_048  # bytes of the URL, the Referer and the User-Agent each
_UNSAFE = re.compile(rb'[^\x20-\x7e]|["\\]')
_log = logging.getLogger("periplus.site")


class AccessLog:
    """A file, or stderr, to which lines are appended."""

    def __init__(self, target: str, *, with_queries: bool) -> None:
        """*target*: a path, or `-` for stderr."""
        self._path = None if target == STDERR else Path(target)
        self._with_queries = with_queries
        self._lines: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        try:
            self._append(b"")
        except OSError as error:
            raise UsageError(f"cannot write the access log {target}", error.strerror or str(error)) from error

    def add(self, scope: Scope, client: str, status: int, size: int) -> None:
        """Adds the line of a request; *size*: bytes of the body that was sent."""
        self._lines.append(self._line(scope, client, status, size))
        if len(self._lines) >= _MOST_LINES:
            self.flush()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        """Writes the lines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        try:
            self._append(b"".join(lines))
        except OSError as error:
            _log.error("%d lines of the access log are lost: %s", len(lines), error)  # no traceback

    def _append(self, text: bytes) -> None:
        if self._path is None:
            sys.stderr.write(text.decode("ascii"))
            sys.stderr.flush()
            return
        with self._path.open("ab", buffering=0) as file:
            file.write(text)

    def _line(self, scope: Scope, client: str, status: int, size: int) -> bytes:
        named = dict(scope["headers"])
        url, query = scope.get("raw_path") or scope["path"].encode("utf-8", "replace"), scope["query_string"]
        referer = named.get(b"referer", b"-")
        if not self._with_queries:
            referer = referer.partition(b"?")[0].partition(b"#")[0]
        elif query:
            url += b"?" + query
        return b'%b - - [%b] "%b %b HTTP/%b" %d %d "%b" "%b"\n' % (
            escaped(client.encode()),
            _moment(int(time.time())),
            escaped(scope["method"].encode()),
            escaped(url),
            escaped(scope["http_version"].encode()),
            status,
            size,
            escaped(referer),
            escaped(named.get(b"user-agent", b"-")),
        )


def escaped(text: bytes) -> bytes:
    r"""The text in printable ASCII; other bytes, quotes and backslashes become \xHH, as in nginx."""
    return _UNSAFE.sub(lambda found: b"\\x%02X" % found[0][0], text[:_LONGEST])


@lru_cache(maxsize=2)
def _moment(seconds: int) -> bytes:
    return time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(seconds)).encode()

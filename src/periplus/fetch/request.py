"""What exactly is a server asked?"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.fetch.options import ACCEPT, accept_encoding
from periplus.fetch.response_limits import Purpose

# Addresses as the frontier writes them: scheme, host, port, path.
_ADDRESS = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[!-\"$-.0-9;->A-~]+)(?::(\d{1,9}))?(/[!-\"$-~]*)")
_PORTS = {"http": 80, "https": 443}


class Question(NamedTuple):
    """One request, before it is known where it goes."""

    url: str
    purpose: Purpose
    host: str
    origin: str  # scheme, host and port: what a connection is for
    port: int
    conditions: list[str]  # header lines that not every request has
    request: bytes  # as it is sent over HTTP/1.1, for the archive


class Questions:
    """Puts requests into words under one name."""

    def __init__(self, user_agent: str) -> None:
        self._same = f"User-Agent: {user_agent}\r\nAccept-Encoding: {accept_encoding()}\r\nAccept: {ACCEPT}\r\n"

    def about(self, url: str, purpose: Purpose, etag: str, last_modified: str) -> Question | None:
        """The request for a canonical address; None when it is not one."""
        parts = _ADDRESS.fullmatch(url)
        if parts is None:
            return None
        scheme, host, port, path = parts.groups()
        authority = f"{host}:{port}" if port else host
        conditions = _conditions(etag, last_modified) if etag or last_modified else []
        lines = "".join(f"{line}\r\n" for line in conditions)
        request = f"GET {path} HTTP/1.1\r\nHost: {authority}\r\n{self._same}{lines}\r\n".encode("ascii")
        number = int(port) if port else _PORTS[scheme]
        return Question(url, purpose, host, f"{scheme}://{authority}", number, conditions, request)


def _conditions(etag: str, last_modified: str) -> list[str]:
    """Header lines that ask for the page only if it has changed; what a server sent is not trusted to be a header."""
    pairs = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return [f"{name}: {value}" for name, value in pairs if value and value.isascii() and value.isprintable()]

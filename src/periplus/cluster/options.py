"""Reads the options of shard nodes and brokers: shards such as `0-3`, and the URLs of nodes."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from periplus.errors import UsageError

_RANGE = re.compile(r"\s*([0-9]{1,4})\s*(?:-\s*([0-9]{1,4})\s*)?")
_SEPARATOR = re.compile(r"[,;\s]+")


def read_shards(text: str) -> tuple[int, ...]:
    """The numbers in a text such as `0-3` or `0,2`, ascending."""
    found: set[int] = set()
    for part in text.split(","):
        numbers = _RANGE.fullmatch(part)
        first, last = (int(numbers[1]), int(numbers[2] or numbers[1])) if numbers else (1, 0)
        if last < first:
            raise UsageError(f"--shards {text!r} is no list of shards", hint="Write numbers and ranges: 0-3 or 0,2.")
        found.update(range(first, last + 1))
    return tuple(sorted(found))


def read_nodes(text: str) -> tuple[str, ...]:
    """The URLs in a text, each once."""
    found = dict.fromkeys(part.rstrip("/") for part in _SEPARATOR.split(text) if part)
    for url in found:
        if not _is_node(url):
            raise UsageError(f"{url!r} is not the URL of a node", hint="Write it like http://10.0.0.31:8081.")
    if not found:
        raise UsageError("--nodes has no URL", hint="Write them like http://10.0.0.31:8081,http://10.0.0.32:8081.")
    return tuple(found)


def _is_node(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_plain = not (parts.path or parts.query or parts.fragment or parts.username)
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and is_plain and port != 0

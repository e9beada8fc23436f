"""Which URLs of a host are generated the same way?

A site that generates URLs without end uses counters, dates, random keys and combined parameters. A pattern replaces
these parts:

    /calendar/2024/05/17          /calendar/#/#/#
    /tag/harbour                  /tag/*
    /shop/9f86d081884c7d65/cart   /shop/$/cart
    /list?sort=price              /list?sort  ?sort

A parameter gives one pattern with the shape of the path, and one for the whole host.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

_NUMBER = re.compile(r"\d+")
_KEY = re.compile(r"(?=[0-9a-zA-Z_-]*\d)(?=[0-9a-zA-Z_-]*[a-zA-Z])[0-9a-zA-Z_-]{16,}|[0-9a-f]{8,}")
_MAX_PARAMETERS = 6  # of a URL


class UrlPattern(NamedTuple):
    """One pattern of a URL."""

    pattern: str
    name: str = ""  # of the parameter; empty for a pattern of the path


def url_patterns(url: str) -> list[UrlPattern]:
    """Return the patterns of a canonical URL; none when no part of it is replaced."""
    path, _, query = url[url.index("/", 8) :].partition("?")
    shape = "/".join(map(_shape, path.split("/")))
    if query:
        names = sorted({part.partition("=")[0] for part in query.split("&", 32)})[:_MAX_PARAMETERS]
        return [UrlPattern(f"{shape}?{name}", name) for name in names] + [
            UrlPattern(f"?{name}", name) for name in names
        ]
    if shape != path:
        return [UrlPattern(shape)]
    folder = path.rstrip("/").rpartition("/")[0]
    return [UrlPattern(f"{folder}/*")] if folder else []


def without_parameters(url: str, names: Container[str]) -> str:
    """Remove some parameters from a URL."""
    address, _, query = url.partition("?")
    left = [part for part in query.split("&") if part and part.partition("=")[0] not in names]
    return f"{address}?{'&'.join(left)}" if left else address


def _shape(segment: str) -> str:
    if segment.isalpha():
        return segment
    return "$" if _KEY.fullmatch(segment) and not segment.isdecimal() else _NUMBER.sub("#", segment)

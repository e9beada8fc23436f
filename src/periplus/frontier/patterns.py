"""Which URLs of a host are made the same way?

A site that makes up addresses does so by counting, by dates, by random keys and by adding parameters, so those are what
a pattern leaves open:

    /calendar/2024/05/17          /calendar/#/#/#
    /tag/harbour                  /tag/*
    /shop/9f86d081884c7d65/cart   /shop/$/cart
    /list?sort=price              /list?sort  ?sort

A parameter makes a pattern for the paths of one shape, and one for the whole host.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

_NUMBER = re.compile(r"\d+")
_KEY = re.compile(r"(?=[0-9a-zA-Z_-]*\d)(?=[0-9a-zA-Z_-]*[a-zA-Z])[0-9a-zA-Z_-]{16,}|[0-9a-f]{8,}")
_NAMES = 6  # parameters of a URL that are looked at


class UrlPattern(NamedTuple):
    """One way in which a URL is made."""

    pattern: str
    name: str = ""  # of the parameter that the pattern is about; empty when it is about the path


def url_patterns(url: str) -> list[UrlPattern]:
    """The ways in which a canonical URL is made; none for an address that nothing is open in."""
    path, _, query = url[url.index("/", 8) :].partition("?")
    shape = "/".join(map(_shape, path.split("/")))
    if query:
        names = sorted({part.partition("=")[0] for part in query.split("&", 32)})[:_NAMES]
        return [UrlPattern(f"{shape}?{name}", name) for name in names] + [
            UrlPattern(f"?{name}", name) for name in names
        ]
    if shape != path:
        return [UrlPattern(shape)]
    folder = path.rstrip("/").rpartition("/")[0]
    return [UrlPattern(f"{folder}/*")] if folder else []


def without_parameters(url: str, names: Container[str]) -> str:
    """A URL without some of its parameters."""
    address, _, query = url.partition("?")
    left = [part for part in query.split("&") if part and part.partition("=")[0] not in names]
    return f"{address}?{'&'.join(left)}" if left else address


def _shape(segment: str) -> str:
    if segment.isalpha():
        return segment
    return "$" if _KEY.fullmatch(segment) and not segment.isdecimal() else _NUMBER.sub("#", segment)

"""Reads the query parameters of a request.

A number outside its range is clamped to the range. Any other invalid value raises `UsageError`, which becomes a 400.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from periplus.errors import UsageError

QUERY_LENGTH = 2_048  # characters; the search box accepts no more, and the engine ignores the rest
URL_LENGTH = 4_096
PAGES = 100
SIZE = 15
LARGEST_SIZE = 100
_NUMBER = re.compile(r"([+-]?)0*([0-9]+)")
_DIGITS = 9  # a longer number exceeds every range
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_MODES = ("auto", "and", "or")
_EXPORTS = {"rss": "/search.rss", "csv": "/search.csv", "json": "/api/search"}
_LABELS = {"page": "page number", "size": "page size"}


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """The parameters of one search."""

    query: str
    page: int = 1
    size: int = SIZE
    explain: bool = False
    mode: str = "auto"
    exact: bool = False  # without spelling correction
    features: bool = False  # with weights and features; for the API
    usual_size: int = SIZE  # that this reader has chosen

    def link(self, page: int = 1, query: str | None = None, mode: str | None = None, exact: bool | None = None) -> str:
        """The URL of another result page, or of this search with other parameters; defaults are left out."""
        parts: dict[str, str | int] = {"q": self.query if query is None else query}
        if (mode or self.mode) != "auto":
            parts["mode"] = mode or self.mode
        if self.exact if exact is None else exact:
            parts["exact"] = 1
        if not self.size == self.usual_size == SIZE:  # a link shows the same page to other readers
            parts["size"] = self.size
        if page > 1:
            parts["page"] = page
        return f"/search?{urlencode(parts)}"

    def export(self, form: str) -> str:
        """The URL of these results as "rss", "csv" or "json"; a feed always begins with the first page."""
        page = 1 if form == "rss" else self.page
        return _EXPORTS[form] + self.link(page).removeprefix("/search")


def read(parameters: Mapping[str, str], usual_size: int = SIZE) -> SearchParameters:
    """Reads the search parameters from the query string; *usual_size*: results per page when it names none."""
    return SearchParameters(
        parameters.get("q", "").strip(),
        _number("page", parameters.get("page", ""), 1, PAGES),
        _number("size", parameters.get("size", ""), usual_size, LARGEST_SIZE),
        _switch("explain", parameters.get("explain", "")),
        _choice("mode", parameters.get("mode", "")),
        _switch("exact", parameters.get("exact", "")),
        _switch("features", parameters.get("features", "")),
        usual_size,
    )


def read_url(parameters: Mapping[str, str]) -> str:
    """Reads the URL of the page whose cached copy is requested."""
    url = parameters.get("url", "").strip()
    if not url:
        raise UsageError("missing URL", hint="Add it: /cached?url=https://example.org/.")
    if len(url) > URL_LENGTH:
        raise UsageError(f"the URL is too long ({len(url):,} characters)", f"the limit is {URL_LENGTH:,}")
    return url


def _number(name: str, text: str, default: int, largest: int) -> int:
    if not text:
        return default
    found = _NUMBER.fullmatch(text)
    if not found:
        raise UsageError(f"invalid {_LABELS[name]} {_short(text)} (1-{largest})")
    sign, digits = found.groups()
    size = int(digits[:_DIGITS]) if len(digits) <= _DIGITS else largest
    return 1 if sign == "-" else min(max(size, 1), largest)


def _switch(name: str, text: str) -> bool:
    if text and text.lower() not in _SWITCH:
        raise UsageError(f"invalid value {_short(text)} for {name} (1 or 0)")
    return _SWITCH.get(text.lower(), False)


def _choice(name: str, text: str) -> str:
    if text and text not in _MODES:
        raise UsageError(f"invalid {name} {_short(text)} ({', '.join(_MODES)})")
    return text or _MODES[0]


def _short(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'

"""Prepares crawled text, URLs and dates for the templates.

Functions return plain text, which the templates escape, or a URL that was checked to be http or https.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, unquote

_CRUMB_LENGTH = 40
_CRUMBS = 5
_WEB_ADDRESS = re.compile(r"https?://[^\x00-\x20\x7f<>\"]+", re.IGNORECASE)
_AUTHORITY_END = re.compile(r"[/?#\\]")
_INVISIBLE = frozenset({"Cc", "Cs"})  # Unicode categories: control characters and surrogates
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


class Piece(NamedTuple):
    """A part of a snippet."""

    text: str
    marked: bool  # a word of the query


def visible(text: str) -> str:
    """Text without control characters and without characters that change the text direction."""
    if text.isascii() and text.isprintable():
        return text
    seen = (" " if unicodedata.category(character) in _INVISIBLE else character for character in text)
    return "".join(character for character in seen if character not in _BIDI_CONTROLS)


def visible_lines(text: str) -> str:
    """Visible text that keeps its line breaks; a tab becomes four spaces."""
    return "\n".join(visible(line.replace("\t", "    ")) for line in text.split("\n"))


def shortened(text: str, length: int = 60) -> str:
    """Visible text of at most this length."""
    text = visible(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def pieces(text: str, ranges: Iterable[tuple[int, int]], show: Callable[[str], str] = visible) -> Iterator[Piece]:
    """Splits the text at the highlighted ranges, which may touch, overlap or exceed the text."""
    done = 0
    for begin, end in sorted(ranges):
        start, stop = max(begin, done), min(end, len(text))
        if start < stop:
            if done < start:
                yield Piece(show(text[done:start]), marked=False)
            yield Piece(show(text[start:stop]), marked=True)
            done = stop
    if done < len(text):
        yield Piece(show(text[done:]), marked=False)


def web_link(url: str) -> str:
    """The URL if it is http or https, otherwise an empty string."""
    return url if _WEB_ADDRESS.fullmatch(url) else ""


def cached_link(url: str, query: str = "", at: str = "") -> str:
    """The URL of the cached copy of a page, with the words of a query marked; *at*: of its version at that time."""
    return page_link("/cached", url, q=query, at=at)


def raw_link(url: str, at: str = "") -> str:
    """The URL that the frame of a cached copy loads."""
    return page_link("/cached/raw", url, at=at)


def page_link(path: str, url: str, **parameters: str) -> str:
    """The URL of a page of this site about the page with this URL; empty parameters are left out."""
    rest = "".join(f"&{name}={_quoted(value)}" for name, value in parameters.items() if value)
    return f"{path}?url={_quoted(url)}{rest}"


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")


def breadcrumb(url: str) -> tuple[str, tuple[str, ...]]:
    """The host and the decoded parts of the path."""
    rest = url.partition("://")[2]
    authority = _AUTHORITY_END.split(rest, maxsplit=1)[0]
    path, _, query = rest[len(authority) :].partition("#")[0].partition("?")
    parts = [part for part in path.split("/") if part] + ([f"?{query}"] if query else [])
    host = authority.rpartition("@")[2]  # the user name before the @ may imitate another host
    shown = parts if len(parts) <= _CRUMBS else [*parts[:2], "…", *parts[-2:]]
    return visible(host), tuple(_crumb(part) for part in shown)


def _crumb(part: str) -> str:
    text = visible(unquote(part))
    return text if len(text) <= _CRUMB_LENGTH else f"{text[:_CRUMB_LENGTH]}…"


def day(seconds: float) -> str:
    """A date such as `4 March 2026`."""
    at = _time(seconds)
    return f"{at.day} {at:%B %Y}" if at else ""


def short_day(seconds: float) -> str:
    """A date such as `4 Mar 2026`."""
    at = _time(seconds)
    return f"{at.day} {at:%b %Y}" if at else ""


def clock(seconds: float) -> str:
    """The time of day, such as `14:05 UTC`."""
    at = _time(seconds)
    return f"{at:%H:%M} UTC" if at else ""


def moment(seconds: float) -> str:
    """Date and time in ISO 8601, for the `datetime` attribute."""
    at = _time(seconds)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else ""


def _time(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None

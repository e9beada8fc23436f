"""Prepares crawled text, URLs and dates for the templates.

Functions return plain text, which the templates escape, or a URL that was checked to be http or https.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from periplus.site import display

_CRUMB_LENGTH = 40
_CRUMBS = 5
_AUTHORITY_END = re.compile(r"[/?#\\]")
visible, visible_lines, shortened = display.visible, display.visible_lines, display.shortened
web_link, moment, utc = display.web_link, display.moment, display.utc


class Piece(NamedTuple):
    """A part of a snippet."""

    text: str
    marked: bool  # a word of the query


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
    at = utc(seconds)
    return f"{at.day} {at:%B %Y}" if at else ""


def short_day(seconds: float) -> str:
    """A date such as `4 Mar 2026`."""
    at = utc(seconds)
    return f"{at.day} {at:%b %Y}" if at else ""


def clock(seconds: float) -> str:
    """The time of day, such as `14:05 UTC`."""
    at = utc(seconds)
    return f"{at:%H:%M} UTC" if at else ""

"""Reads robots directives: noindex and nofollow.

They come from ``<meta name=robots>`` and from ``X-Robots-Tag`` headers; the stricter one wins. For a single link they
come from its ``rel``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from periplus.model import Response

UNENDORSED = frozenset({"nofollow", "ugc", "sponsored"})  # in the `rel` of a link
META_NAMES = frozenset({"robots", "periplus"})
_HEADER = "x-robots-tag"
_AGENT = re.compile(r"\s*([a-z*][a-z0-9_*-]*)\s*:")
_OURS = frozenset({"*", "periplus"})
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_SEPARATORS = re.compile(r"[\s,;]+")


def meta_words(content: str) -> set[str]:
    """The directives of one ``<meta>``, in lower case."""
    return set(_SEPARATORS.split(content.lower()))


def header_words(response: Response) -> set[str]:
    """The directives of the response headers for all crawlers or for this one."""
    joined = response.headers.get(_HEADER)
    if joined is None:
        return set()
    values = [joined, *_lines(response.head)]  # in the joined value, an agent name also covers the lines after it
    return {word for value in values for word in _addressed_words(value.lower())}


def noindex(words: set[str]) -> bool:
    """Whether the page must not be indexed."""
    return "noindex" in words or "none" in words


def nofollow(words: set[str]) -> bool:
    """Whether all links of the page are nofollow."""
    return "nofollow" in words or "none" in words


def _lines(head: bytes) -> Iterator[str]:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == _HEADER.encode():
            yield value.decode("latin-1")


def _addressed_words(value: str) -> Iterator[str]:
    """The directives for this crawler; in ``googlebot: nofollow, noarchive`` the agent name applies to both."""
    ours = True
    for part in value.split(","):
        agent = _AGENT.match(part)
        if agent and agent[1] not in _WITH_VALUE:
            ours = agent[1] in _OURS
            yield from meta_words(part[agent.end() :]) if ours else ()
        elif ours:
            yield from meta_words(part)

"""What does a page ask of robots?

The words come from ``<meta name=robots>`` and from ``X-Robots-Tag`` headers; the stricter one wins. A single link asks
by its ``rel``.
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
    """The directives of the response's headers that are meant for everybody or for this crawler."""
    joined = response.headers.get(_HEADER)
    if joined is None:
        return set()
    values = [joined, *_lines(response.head)]  # joined, the robot that one line names would be that of the next
    return {word for value in values for word in _addressed_words(value.lower())}


def noindex(words: set[str]) -> bool:
    """Whether the page must not be shown."""
    return "noindex" in words or "none" in words


def nofollow(words: set[str]) -> bool:
    """Whether the page vouches for none of its links."""
    return "nofollow" in words or "none" in words


def _lines(head: bytes) -> Iterator[str]:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == _HEADER.encode():
            yield value.decode("latin-1")


def _addressed_words(value: str) -> Iterator[str]:
    """``googlebot: nofollow, noarchive`` names one robot, for all that follows in that header."""
    ours = True
    for part in value.split(","):
        agent = _AGENT.match(part)
        if agent and agent[1] not in _WITH_VALUE:
            ours = agent[1] in _OURS
            yield from meta_words(part[agent.end() :]) if ours else ()
        elif ours:
            yield from meta_words(part)

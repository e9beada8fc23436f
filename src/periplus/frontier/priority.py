"""Which of a host's URLs comes first, and why?

    priority = depth + doubt - listed - linked        the smallest comes first

*depth* counts the links from a seed, so a site is read level by level. Within a level the rest decides; it never
makes up for a level:

* *doubt*: up to 0.09, the worse the page looks that links to it first, and that page's host (`crawl/novelty.py`).
* *listed*: 0.2 for a page that a sitemap of its own domain lists, up to 0.2 more by the priority it is given there
  (0.1 when it is given none), and up to 0.2 more if it changed of late: half of that a month ago, a quarter two.
* *linked*: 0.1 each time the links to it have doubled, counted in this run and while it waits in memory.

A URL of a suspected trap is *deferred*: all other URLs of its host come first (`frontier/traps.py`).

When a URL may be fetched at the earliest is another matter: that is its `due`.
"""

from __future__ import annotations

from periplus.model import QueuedUrl

_DOUBT = 0.09  # less than a level, together with the bonuses
_LISTED = 0.2
_BY_PRIORITY = 0.2
_UNTOLD = 0.5  # the priority of a page whose sitemap gives none: the protocol says so
_FRESH = 0.2
_HALF_LIFE = 30 * 86_400.0  # seconds
_DOUBLED = 0.1
_MOST = 0.9  # of all bonuses: less than a level
_DEFERRED = 1_000_000.0  # more than any depth


def plain(depth: int) -> float:
    """The priority of a URL that a link, a redirect or a person has named."""
    return float(depth)


def found(depth: int, quality: float) -> float:
    """The priority of a URL that a page of some quality, from 0 to 1, links to."""
    return depth + round(_DOUBT * (1.0 - quality), 3)


def listed(depth: int, priority: float | None, lastmod: float | None, now: float) -> float:
    """The priority of a URL that a sitemap of its domain lists, with what it tells about it."""
    bonus = _LISTED + _BY_PRIORITY * (_UNTOLD if priority is None else priority)
    if lastmod is not None:
        bonus += _FRESH * 0.5 ** (max(now - lastmod, 0.0) / _HALF_LIFE)
    return depth - bonus


def linked(item: QueuedUrl) -> float:
    """The priority of a waiting URL once the links to it have doubled."""
    return max(item.priority - _DOUBLED, item.depth - _MOST)


def deferred(priority: float) -> float:
    """The priority of a URL that comes after all others of its host."""
    return priority if is_deferred(priority) else priority + _DEFERRED


def is_deferred(priority: float) -> bool:
    """Whether a URL comes after all others of its host."""
    return priority >= _DEFERRED - 1

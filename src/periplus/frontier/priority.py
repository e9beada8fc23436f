"""Which URL of a host comes first?

    priority = depth + quality penalty - sitemap bonus - link bonus        the smallest comes first

*depth* counts the links from a seed, so a site is crawled level by level. The other parts decide within a level and
never outweigh a level:

* *quality penalty*: up to 0.09, from the quality of the page that links to the URL first, and of that page's host
  (`crawl/visits/novelty.py`).
* *sitemap bonus*: 0.2 for a page in a sitemap of its own domain, up to 0.2 more for its priority there (0.1 without
  one), and up to 0.2 more for a recent change: half of that after 30 days, a quarter after 60 days.
* *link bonus*: 0.1 each time the number of links to the URL doubles, counted in this run and while it is in memory.

A URL of a suspected trap is *deferred*: all other URLs of its host come first (`frontier/traps.py`).

The earliest time of a fetch is independent of the priority: see `due` in `QueuedUrl`.
"""

from __future__ import annotations

from periplus.model import QueuedUrl

_MAX_QUALITY_PENALTY = 0.09  # together with the bonuses less than a level
_SITEMAP_BONUS = 0.2
_SITEMAP_PRIORITY_BONUS = 0.2
_DEFAULT_SITEMAP_PRIORITY = 0.5  # the default of the sitemap protocol
_RECENT_CHANGE_BONUS = 0.2
_HALF_LIFE = 30 * 86_400.0  # seconds
_LINK_BONUS = 0.1
_MAX_BONUS = 0.9  # sum of all bonuses: less than a level
_DEFERRED = 1_000_000.0  # more than any depth


def plain(depth: int) -> float:
    """Return the priority of a URL from a seed, a redirect or a link without a known quality."""
    return float(depth)


def found(depth: int, quality: float) -> float:
    """Return the priority of a URL that a page of this quality (0 to 1) links to."""
    return depth + round(_MAX_QUALITY_PENALTY * (1.0 - quality), 3)


def listed(depth: int, priority: float | None, lastmod: float | None, now: float) -> float:
    """Return the priority of a URL in a sitemap of its domain, from the data in the sitemap."""
    bonus = _SITEMAP_BONUS + _SITEMAP_PRIORITY_BONUS * (_DEFAULT_SITEMAP_PRIORITY if priority is None else priority)
    if lastmod is not None:
        bonus += _RECENT_CHANGE_BONUS * 0.5 ** (max(now - lastmod, 0.0) / _HALF_LIFE)
    return depth - bonus


def linked(item: QueuedUrl) -> float:
    """Return the priority of a queued URL after the number of links to it has doubled."""
    return max(item.priority - _LINK_BONUS, item.depth - _MAX_BONUS)


def deferred(priority: float) -> float:
    """Return the priority that puts a URL after all others of its host."""
    return priority if is_deferred(priority) else priority + _DEFERRED


def is_deferred(priority: float) -> bool:
    """Whether a priority puts a URL after all others of its host."""
    return priority >= _DEFERRED - 1

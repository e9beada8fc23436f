"""How good does a page look in passing, and how good do the pages of its host?

Six clues, each from 0 to 1, from what a crawl has at hand. Links on good pages of good hosts are followed first
(`frontier/priority.py`). How good a page is when it is read closely is another matter: `parse/quality.py`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import log

from periplus.model import Page, Worth

_ENOUGH, _TOO_LITTLE = 3_000, 100  # characters of text
_SPAN = log(_ENOUGH / _TOO_LITTLE)
_GOOD_SHARE = 0.15  # characters of text for each byte of the document
_LINK = 25  # characters of text that a link takes
_HOSTS = 20_000  # that are remembered
_UNKNOWN = 0.5  # what a host is worth of which nothing is known
_CAUTION = 2  # pages for which that stands


def worth_of(page: Page, size: int, *, has_news: bool) -> Worth:
    """What a page of *size* bytes is worth at first sight."""
    length = len(page.text)
    if not length:
        return Worth(title=float(bool(page.title)))
    return Worth(
        text=min(length / (size or 1) / _GOOD_SHARE, 1.0),
        length=min(max(log(length / _TOO_LITTLE) / _SPAN, 0.0), 1.0),
        links=max(1.0 - _LINK * len(page.links) / length, 0.0),
        title=1.0 if page.title else 0.0,
        language=1.0 if page.language else 0.0,
        news=1.0 if has_news else 0.0,
    )


class Worths:
    """What the hosts of one worker are worth so far."""

    def __init__(self, recall: Callable[[str], tuple[int, Worth]]) -> None:
        """*recall* knows how many pages of a host were counted before, and their clues on average."""
        self._recall = recall
        self._hosts: OrderedDict[str, tuple[int, float]] = OrderedDict()  # pages, and the sum of their scores

    def count(self, host: str, score: float) -> float:
        """Take a page into account; returns what its host is worth now."""
        known = self._hosts.pop(host, None)
        if known is None:
            pages, mean = self._recall(host)
            known = pages + _CAUTION, pages * mean.score + _CAUTION * _UNKNOWN
            if len(self._hosts) >= _HOSTS:
                self._hosts.popitem(last=False)
        pages, total = self._hosts[host] = known[0] + 1, known[1] + score
        return total / pages

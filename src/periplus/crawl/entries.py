"""Where does a crawl begin again when nothing is left?"""

from __future__ import annotations

from collections.abc import Iterable

from periplus.crawl.link_intake import Paths
from periplus.frontier.priority import plain
from periplus.frontier.queues import Queues
from periplus.model import QueuedUrl, Reason
from periplus.url import host_of

_FRUITLESS = 20  # times in a row that asking again may bring nothing new before it is given up


class Entries:
    """Addresses that lead elsewhere each time they are asked, such as that of a random page.

    They are no pages: they stand in no queue on disk, may be asked any number of times, and are never indexed.
    """

    def __init__(self, urls: Iterable[str], paths: Paths, queues: Queues) -> None:
        self._urls, self._paths, self._queues = list(urls), paths, queues
        self._news = -1  # what was news the last time
        self._fruitless = 0

    def enter_again(self) -> None:
        """Nothing is left to fetch: queue every entry once more, unless that has been of no use for long."""
        self._fruitless = self._fruitless + 1 if self._paths.news == self._news else 0
        self._news = self._paths.news
        if self._fruitless < _FRUITLESS:
            for url in filter(self._paths.owns, self._urls):
                self._queues.add(QueuedUrl(url, host_of(url), 0, plain(0), Reason.ENTRY))

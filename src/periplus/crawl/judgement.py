"""What is a page worth that has just been read, to us and to the order of the queue?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from periplus.crawl.copies import Copies
from periplus.crawl.logbook import Logbook
from periplus.crawl.paths import Paths
from periplus.crawl.worth import Worths, worth_of
from periplus.model import Page, QueuedUrl, Worth


class Judgement(NamedTuple):
    """What follows for a page and for its links."""

    is_dull: bool  # it could have been spared
    quality: float  # of the page and of its host, from 0 to 1


class Judge:
    """Compares pages with what is known of their hosts, and writes down what it finds."""

    def __init__(self, paths: Paths, log: Logbook, recall: Callable[[str], tuple[int, Worth]]) -> None:
        self._paths, self._log = paths, log
        self._copies, self._worths = Copies(), Worths(recall)

    def judge(self, item: QueuedUrl, page: Page, size: int) -> Judgement:
        """Judge a new version of a page of *size* bytes."""
        batch = self._log.batch
        novelty = self._copies.meet(item.host, item.url, page, trusting=not self._paths.traps.holds(item.host))
        if novelty.copy is not None:
            batch.copies.append(novelty.copy)
        has_news = novelty.is_news or bool(item.visits)  # what was here before has no news by nature
        worth = worth_of(page, size, has_news=has_news)
        batch.count_worth(item.host, worth)
        score = worth.score
        is_dull = not item.visits and not self._paths.learn(item, has_news=has_news, is_certain=novelty.is_certain)
        return Judgement(is_dull, (score + self._worths.count(item.host, score)) / 2)

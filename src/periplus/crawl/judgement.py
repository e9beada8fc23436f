"""What is a page worth that has just been read, to us and to the order of the queue?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from periplus.crawl.link_intake import Paths
from periplus.crawl.logbook import Logbook
from periplus.crawl.novelty import Copies
from periplus.crawl.worth import Worths, worth_of
from periplus.model import Novelty, Page, QueuedUrl, Worth


class Judgement(NamedTuple):
    """What follows for a page and for its links."""

    novelty: Novelty
    is_dull: bool  # a page fetched for the first time that adds nothing
    quality: float  # of the page and of its host, from 0 to 1


class Judge:
    """Compares pages with what is known of their hosts, and writes down what it finds."""

    def __init__(self, paths: Paths, log: Logbook, recall: Callable[[str], tuple[int, Worth]]) -> None:
        self._paths, self._log = paths, log
        self._copies, self._worths = Copies(), Worths(recall)

    def judge(self, item: QueuedUrl, page: Page, size: int) -> Judgement:
        """Judge a new version of a page of *size* bytes."""
        batch = self._log.batch
        compared = self._copies.meet(item.host, item.url, page, trusting=not self._paths.traps.holds(item.host))
        if compared.copy is not None:
            batch.copies.append(compared.copy)
        novelty = Novelty.NEW if item.visits else compared.novelty  # a known page repeats itself by nature
        worth = worth_of(page, size, has_news=novelty is not Novelty.NONE)
        batch.count_worth(item.host, worth)
        score = worth.score
        if not item.visits:
            self._paths.learn(item, novelty, is_repeat=compared.is_repeat, is_certain=compared.is_certain)
        is_dull = novelty is Novelty.NONE and self._paths.traps.is_learning
        return Judgement(novelty, is_dull, (score + self._worths.count(item.host, score)) / 2)

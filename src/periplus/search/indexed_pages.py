"""Reads pages of the index, whichever shard has them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TypeVar

from periplus.index.pagestore import Head
from periplus.index.shards import shard_of
from periplus.search.open_index import CommonFiles
from periplus.search.ranking import Scored
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.port import Shard, SitePages, StoredPage
from periplus.url import url_id

_Part = TypeVar("_Part")


class IndexedPages:
    """The pages of all shards; safe to share between threads."""

    def __init__(self, common: CommonFiles, group: TrackedShards) -> None:
        self._common, self._group = common, group

    def find(self, url: str) -> int | None:
        """The number of the document with this URL; asks only the shard that may have it."""
        shard = shard_of(url_id(url), self._group.shards)
        return self._group.ask(lambda one: one.find(url), [shard])[shard]

    def of_url(self, url: str) -> StoredPage | None:
        """The page with this URL."""
        number = self.find(url)
        if number is None:
            return None
        shard = shard_of(url_id(url), self._group.shards)
        return self._group.ask(lambda one: one.page(number), [shard])[shard]

    def page(self, number: int) -> StoredPage:
        """The document with a number that the index has."""
        answers = self._group.ask(lambda shard: shard.page(number)).values()
        return next(page for page in answers if page is not None)

    def head(self, number: int) -> Head:
        """The small part of a document with a number that the index has."""
        answers = self._group.ask(lambda shard: shard.heads([number])).values()
        return next(head for heads in answers for head in heads)

    def heads(self, found: Sequence[Scored]) -> list[Head]:
        """The small parts of results."""
        numbers = [one.number for one in found]
        return self._read(found, lambda shard: shard.heads(numbers))

    def heads_of(self, urls: Sequence[str]) -> list[Head]:
        """The small parts of the pages with these URLs, in their order; without those that the index has not."""
        shards = {url: shard_of(url_id(url), self._group.shards) for url in urls}
        answers = self._group.ask(lambda shard: shard.heads_of(urls), set(shards.values())) if urls else {}
        found = [answers[shard].get(url) for url, shard in shards.items() if shard in answers]
        return [head for head in found if head is not None]

    def texts(self, found: Sequence[Scored]) -> list[str]:
        """The texts of results."""
        numbers = [one.number for one in found]
        return self._read(found, lambda shard: shard.texts(numbers))

    def _read(self, found: Sequence[Scored], call: Callable[[Shard], list[_Part]]) -> list[_Part]:
        """What the shards of results say about them, in the order of the results; missing shards say nothing."""
        answers = self._group.ask(call, {one.shard for one in found}) if found else {}
        parts = {shard: iter(answer) for shard, answer in answers.items()}
        return [next(parts[one.shard]) for one in found if one.shard in parts]

    def lower_ranks(self, rank: float) -> float:
        """The share of the documents that have a lower rank."""
        return sum(self._group.ask(lambda shard: shard.lower_ranks(rank)).values()) / max(self._common.numbers, 1)

    def site(self, host: str, most: int) -> SitePages:
        """The pages of a site."""
        found = list(self._group.ask(lambda shard: shard.site(host, most)).values())
        newest = max(found, key=lambda one: one.newest_date)
        best = heapq.nsmallest(most, (page for one in found for page in one.best), key=lambda page: (-page[0], page[1]))
        return SitePages(sum(one.total for one in found), newest.newest, newest.newest_date, best)

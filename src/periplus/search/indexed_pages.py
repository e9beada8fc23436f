"""Reads pages of the index, whichever shard has them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from periplus.errors import ShardsUnavailable
from periplus.index.storage.pagestore import Head
from periplus.index.storage.shards import shard_of
from periplus.search.open_index import CommonFiles
from periplus.search.ranking import Scored
from periplus.search.shards.group import PAGE_UNAVAILABLE, TrackedShards
from periplus.search.shards.port import Shard, SitePages, StoredPage
from periplus.url import url_id

_Part = TypeVar("_Part")


class IndexedPages:
    """The pages of all shards; safe to share between threads."""

    def __init__(self, common: CommonFiles, group: TrackedShards) -> None:
        self._common, self._group = common, group

    def shard(self, url: str) -> int:
        """The shard that has the page with this URL, if any shard has it."""
        return shard_of(url_id(url), self._group.shards)

    def find(self, url: str) -> int | None:
        """The number of the document with this URL; asks only the shard that may have it."""
        return self._group.ask_one(lambda one: one.find(url), self.shard(url))

    def of_url(self, url: str) -> StoredPage | None:
        """The page with this URL."""
        number = self.find(url)
        return None if number is None else self._group.ask_one(lambda one: one.page(number), self.shard(url))

    def page(self, number: int) -> StoredPage:
        """The document with a number that the index has."""
        answers = self._group.ask(lambda shard: shard.page(number)).values()
        return _only(page for page in answers if page is not None)

    def head(self, number: int) -> Head:
        """URL, titles, description and dates of a document with a number that the index has."""
        answers = self._group.ask(lambda shard: shard.heads([number])).values()
        return _only(head for heads in answers for head in heads)

    def heads(self, found: Sequence[Scored]) -> dict[int, Head]:
        """URL, titles, description and dates of results by number, without those of missing shards."""
        numbers = [one.number for one in found]
        return self._read(found, lambda shard: shard.heads(numbers))

    def heads_of(self, urls: Sequence[str]) -> list[Head]:
        """The same of the pages with these URLs, in their order; without those that the index has not."""
        shards = {url: self.shard(url) for url in urls}
        answers = self._group.ask(lambda shard: shard.heads_of(urls), set(shards.values())) if urls else {}
        found = [answers[shard].get(url) for url, shard in shards.items() if shard in answers]
        return [head for head in found if head is not None]

    def texts(self, found: Sequence[Scored]) -> dict[int, str]:
        """The texts of results by number, without those of missing shards."""
        numbers = [one.number for one in found]
        return self._read(found, lambda shard: shard.texts(numbers))

    def _read(self, found: Sequence[Scored], call: Callable[[Shard], list[_Part]]) -> dict[int, _Part]:
        """What the shards of results say about them; a shard answers in the order of its own results."""
        answers = self._group.ask(call, {one.shard for one in found}) if found else {}
        parts: dict[int, _Part] = {}
        for shard, answer in answers.items():
            parts |= zip((one.number for one in found if one.shard == shard), answer, strict=True)
        return parts

    def lower_ranks(self, rank: float) -> float:
        """The share of the documents that have a lower rank."""
        return sum(self._group.ask(lambda shard: shard.lower_ranks(rank)).values()) / max(self._common.numbers, 1)

    def site(self, host: str, most: int) -> SitePages:
        """The pages of a site."""
        found = list(self._group.ask(lambda shard: shard.site(host, most)).values())
        newest = max(found, key=lambda one: one.newest_date)
        best = heapq.nsmallest(most, (page for one in found for page in one.best), key=lambda page: (-page[0], page[1]))
        return SitePages(sum(one.total for one in found), newest.newest, newest.newest_date, best)


def _only(found: Iterator[_Part]) -> _Part:
    """The answer of the one shard that has a document."""
    for one in found:
        return one
    raise ShardsUnavailable(PAGE_UNAVAILABLE)

"""The interface of a shard of the index, and the records that a search exchanges with it.

The engine interprets a query with the files that all shards share, asks every shard, and merges the answers. A shard
may be open in the same process or on another machine. So the records have only texts, numbers, arrays and other
records. A request has everything that a shard must know: no shard decides anything by its own statistics.

Documents have the numbers that they have in the whole collection.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from periplus.index.storage.pagestore import Details, Head
from periplus.model import Hit, MediaHit, SiteBoosts
from periplus.search.scoring.candidates import CandidateList

Answer = TypeVar("Answer")
Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


class Term(NamedTuple):
    """A term of a field of the full-text index."""

    field: str
    text: str


class Frequency(NamedTuple):
    """The number of documents of the whole collection that have a term."""

    term: Term
    documents: int


class ShardSearch(NamedTuple):
    """An interpreted query. It can be hashed, so that a shard compiles it once."""

    query: str  # the parsed and corrected query, in the query language
    mode: str  # and, or, auto
    words: tuple[str, ...]  # to find; without the ignored ones
    variants: tuple[tuple[str, tuple[str, ...]], ...]  # other right spellings of words
    likely: tuple[tuple[str, float], ...]  # probability by language
    ignored: frozenset[str]  # stop words of the query
    frequencies: tuple[Frequency, ...] = ()  # of its terms, for scores; empty when there is one shard


class MatchSet(StrEnum):
    """Which of the matching pages a request is about."""

    RESULTS = "results"  # all results of the search
    WHOLE = "whole"  # those that match the query as a whole
    NEWS = "news"  # results with a date of publication
    WHOLE_NEWS = "whole-news"


class ShardCandidates(NamedTuple):
    """Candidates of one shard with their features."""

    numbers: Integers  # ascending
    hosts: NDArray[np.uint64]  # hashes of their names
    dates: Integers  # seconds since the epoch
    features: Numbers  # a row for each; `freshness` is 0, because it depends on the other shards
    boosts: Numbers  # what the reader adds to their scores; empty unless the reader raises or lowers sites
    lists: tuple[CandidateList, ...]  # every shard has the same lists
    has_words: bool  # False: the query has no words, and only the rank counts
    with_all_words: int  # pages that match the query as a whole
    steps: dict[str, float]  # seconds spent in each step


class Dated(NamedTuple):
    """Pages in the order of their dates, newest first."""

    numbers: list[int]
    dates: list[int]  # seconds since the epoch
    total: int  # number of matches


class FacetBuckets(NamedTuple):
    """Numbers of matching pages by the value of a property, as the index stores the value."""

    languages: dict[int, int]
    types: dict[int, int]
    hosts: dict[int, int]  # by the hash of the name; the hosts with the most pages
    dates: dict[int, int]  # by the first second of a range


class MediaMatch(NamedTuple):
    """An image or video of a page."""

    key: int  # the hash of its URL
    number: int  # of the page
    place: int  # among the images or videos of the page
    score: float


class MediaMatches(NamedTuple):
    """The best images or videos, best first: those with all words, then those with some."""

    whole: list[MediaMatch]
    partial: list[MediaMatch]
    whole_is_complete: bool  # False: there are more matches than were read
    partial_is_complete: bool


class StoredPage(NamedTuple):
    """Everything that the index holds about a page."""

    number: int
    head: Head
    details: Details
    text: str
    anchors: list[str]  # texts of links to it
    words: list[str]  # that say most about it, best first
    rank: float  # PageRank, relative to a page without links


class SitePages(NamedTuple):
    """The pages of a host and its subdomains."""

    total: int
    newest: Head | None
    newest_date: int  # seconds since the epoch
    best: list[tuple[float, int, Head]]  # rank and number of the pages with the highest rank


class ShardFacts(NamedTuple):
    """What the shard is."""

    shard: int
    generation: str  # `generation_id` of the folder; shards of another generation must not be asked
    documents: int
    hosts: int  # number of hosts with pages in this shard
    newest: int  # date of the newest page, in seconds since the epoch
    damage: str  # of its files; empty: none was found


class Shard(Protocol):
    """One shard of a generation; called from several threads at once, never writes.

    A damaged file raises `DamagedFile`. The answers to the same request are always the same. A request may name
    documents of other shards, too: they are ignored.
    """

    def facts(self) -> ShardFacts:
        """What the shard is; asked when a generation is opened, and by the health check."""
        ...

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        """The number of documents with each term; the engine adds them up and keeps the sums."""
        ...

    def media_frequencies(self, terms: Sequence[Term]) -> list[int]:
        """The number of images and videos with each term; the engine adds them up and keeps the sums."""
        ...

    def candidates(self, search: ShardSearch, blocks: int, site_boosts: SiteBoosts) -> ShardCandidates:
        """The candidates of the first *blocks* blocks; the first request of every search."""
        ...

    def hits(self, search: ShardSearch, numbers: Sequence[int], match_set: MatchSet) -> list[Hit]:
        """Its own documents as results with snippets, without scores; the second request of a search.

        They are in the order of *numbers*. *match_set*: `WHOLE` when all of them match the query as a whole.
        """
        ...

    def newest(self, search: ShardSearch, match_set: MatchSet, most: int) -> Dated:
        """The newest matches."""
        ...

    def count(self, search: ShardSearch, match_set: MatchSet) -> int:
        """The number of matches."""
        ...

    def among(self, search: ShardSearch, numbers: Sequence[int]) -> list[int]:
        """Those of the documents that match the query as a whole."""
        ...

    def facets(self, search: ShardSearch, dates: Sequence[int]) -> FacetBuckets:
        """The results by property; *dates*: ascending, in seconds since the epoch."""
        ...

    def host_names(self, search: ShardSearch, keys: Sequence[int]) -> dict[int, str]:
        """The names of hosts of results by their hash, as far as they are in this shard."""
        ...

    def site_counts(self, search: ShardSearch, hosts: Sequence[str]) -> list[int]:
        """The number of results of each host with its subdomains; -1 when no page of the shard is of a subdomain."""
        ...

    def media(self, search: ShardSearch, kind: str) -> MediaMatches:
        """The best images or videos of the pages; the frequencies of the search are those among images and videos."""
        ...

    def media_hits(self, kind: str, found: Sequence[MediaMatch]) -> list[MediaHit]:
        """Images or videos of its own documents as results, in the order of *found*."""
        ...

    def words_in(self, search: ShardSearch, number: int) -> dict[str, int]:
        """The number of words of the query, and how many of them each field of a page has; empty for another shard."""
        ...

    def find(self, url: str) -> int | None:
        """The number of the document with this URL."""
        ...

    def heads(self, numbers: Sequence[int]) -> list[Head]:
        """URL, titles, description, dates and first 600 characters of each of its own documents (`Head`).

        They are in the order of *numbers*.
        """
        ...

    def heads_of(self, urls: Sequence[str]) -> dict[str, Head]:
        """The same of the pages with these URLs, by URL."""
        ...

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The texts of its own documents, in the order of *numbers*."""
        ...

    def page(self, number: int) -> StoredPage | None:
        """A page with everything that the index holds about it; None when it is in another shard."""
        ...

    def lower_ranks(self, rank: float) -> int:
        """The number of documents with a lower rank."""
        ...

    def site(self, host: str, most: int) -> SitePages:
        """The pages of a site."""
        ...


class ShardGroup(Protocol):
    """All shards of one generation, wherever they are.

    `ask` raises the error of a shard that has answered with one; a shard that has not answered in time is missing.
    """

    @property
    def shards(self) -> int:
        """The number of shards of the generation, missing ones too."""
        ...

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        """Makes the same call to the chosen shards at once, by default to all; the answers by number of the shard.

        A shard that gives no answer in time is missing from the answers.
        """
        ...

    def close(self) -> None:
        """Closes files or connections."""
        ...

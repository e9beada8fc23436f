"""The interface that the search site needs from a search engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from periplus.model import CachedPage, CollectionFacts, Explanation, FacetCounts, FeatureTable, MediaResults, Results
from periplus.search.suggest.completion import Suggestion


class Engine(Protocol):
    """Called by the routes, from several threads at once.

    The engine reads the live generation and never writes. The site answers a `UsageError` with 400 and its message, and
    any other `PeriplusError` with 503; it logs the latter.
    """

    def search(
        self,
        query: str,
        *,
        page: int = 1,
        size: int = 15,
        explain: bool = False,
        mode: str = "auto",
        verbatim: bool = False,
    ) -> Results:
        """One page of results. Any text is a valid query; hints name its mistakes.

        *mode* is "and" (a page must have all words), "or" (any word) or "auto" (any word; pages with more of the query
        come first). *verbatim*: without spelling correction.
        """
        ...

    def feature_table(self, query: str, most: int, *, mode: str = "auto", verbatim: bool = False) -> FeatureTable:
        """The weights, and URL, score and features of the *most* best results."""
        ...

    def facets(
        self, query: str, *, mode: str = "auto", dates: Sequence[str] = (), hosts: Sequence[str] = ()
    ) -> FacetCounts:
        """The number of results by language, type, site and date, without spelling correction.

        Each count is that of the search with one more operator. *dates*: days such as 2026-05-17, whose newer pages are
        counted. *hosts*: counted besides those with the most results.
        """
        ...

    def count(self, query: str, *, mode: str = "auto") -> int:
        """The number of results, without spelling correction; cheaper than a search."""
        ...

    def media(self, query: str, kind: str, *, page: int = 1, size: int = 30, mode: str = "auto") -> MediaResults:
        """One page of images or videos of pages in the index; *kind* is "image" or "video"."""
        ...

    def count_media(self, query: str, kind: str, *, mode: str = "auto") -> int:
        """About how many images or videos match; cheaper than `media`."""
        ...

    def explanation(self, query: str, url: str, *, mode: str = "auto", verbatim: bool = False) -> Explanation | None:
        """The parts of the score of one result; None when the page is no result of the query."""
        ...

    def page_words(self, url: str) -> list[str]:
        """The words that say most about a page, best first; empty when the URL is not in the index."""
        ...

    def cached(self, url: str) -> CachedPage | None:
        """The archived page, or None when the URL is not in the index."""
        ...

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        """Continuations of the typed text, best first; called on every key, so it must take a few milliseconds."""
        ...

    def related(self, query: str, urls: Sequence[str]) -> list[str]:
        """At most six searches about the same subject; *urls*: the pages that the query found, best first."""
        ...

    def facts(self) -> CollectionFacts:
        """How much the index holds and how fresh it is; slow only when it is called first."""
        ...

    @property
    def generation(self) -> int:
        """The number of the index generation that is being served."""
        ...

    @property
    def fingerprint(self) -> str:
        """Identifies everything that the results depend on: generation, weights, release. Empty: do not store them."""
        ...

    @property
    def is_damaged(self) -> bool:
        """Whether a file of the index was found damaged; the health check then answers 503."""
        ...

    @property
    def documents(self) -> int:
        """The number of indexed pages."""
        ...

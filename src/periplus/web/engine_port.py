"""What does the site need from a search engine?"""

from __future__ import annotations

from typing import Protocol

from periplus.model import CachedPage, Results


class Engine(Protocol):
    """Called by the routes, from several threads at once; what it answers is shown as it is.

    It reads the live generation and never writes. A `UsageError` is told to the reader, any other `PeriplusError` is
    answered with 503 and logged.
    """

    def search(
        self, query: str, *, page: int = 1, size: int = 15, explain: bool = False, mode: str = "auto"
    ) -> Results:
        """One page of results. *mode* says whether a page must hold all words ("and"), any ("or"), or all unless too
        few do ("auto"). Text of any kind and length is a query; what is odd about it is told in the hints.
        """
        ...

    def cached(self, url: str) -> CachedPage | None:
        """The page as it was archived, or nothing if it never was."""
        ...

    @property
    def generation(self) -> int:
        """The number of the index that is being served."""
        ...

    @property
    def documents(self) -> int:
        """How many pages can be found."""
        ...

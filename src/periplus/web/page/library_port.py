"""The interface that the pages about one page need: text, versions and facts."""

from __future__ import annotations

from typing import Protocol

from periplus.inspector.page_records import PageFacts, PageText, PageVersion, SiteFacts
from periplus.model import CachedPage


class Library(Protocol):
    """Called by the routes, from several threads at once; never writes. It shows only pages that are in the index."""

    def text(self, url: str, query: str = "", at: float | None = None) -> PageText | None:
        """The text of a page with the words of a query marked; *at*: of its version at that time. None becomes 404."""
        ...

    def version(self, url: str, at: float) -> CachedPage | None:
        """The archived body of the version of a page at a time."""
        ...

    def versions(self, url: str) -> tuple[PageVersion, ...]:
        """The archived versions of a page, oldest first."""
        ...

    def facts(self, url: str) -> PageFacts | None:
        """What the panel shows about a page."""
        ...

    def site(self, host: str) -> SiteFacts | None:
        """What the panel shows about a site."""
        ...

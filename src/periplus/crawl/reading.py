"""What does a page say, and where do its links lead?

Shared by the crawl, which reads pages as they arrive, and by recovery, which reads them again from the archive.
"""

from __future__ import annotations

import asyncio

from periplus.model import Fetch, Page, Response
from periplus.parse.page import PageParser
from periplus.store.segments import PageRow, Target
from periplus.url import host_of, url_id

_TARGETS_REMEMBERED = 50_000


class PageReader:
    """Parses responses; remembers the identities of link targets, because pages of one site link to the same ones."""

    def __init__(self, parser: PageParser) -> None:
        self._parser = parser
        self._targets: dict[str, Target] = {}

    def parse(self, response: Response) -> Page:
        """The fields, text and links of a response."""
        return self._parser.skim(response)

    async def parse_aside(self, response: Response) -> Page | None:
        """The same for what takes long, while others go on; None for everything else."""
        return await asyncio.to_thread(self._parser.parse, response) if self._parser.is_slow(response) else None

    def close(self) -> None:
        """Let go of what reads what takes long."""
        self._parser.close()

    def row(self, fetch: Fetch, page: Page) -> PageRow:
        """The page as a row of a segment."""
        targets = self._targets
        if len(targets) > _TARGETS_REMEMBERED:
            targets.clear()
        found = []
        for link in page.links:
            target = targets.get(link.target)
            if target is None:
                target = targets[link.target] = Target(url_id(link.target), host_of(link.target))
            found.append(target)
        return PageRow(fetch, url_id(fetch.url), host_of(fetch.url), page, found)

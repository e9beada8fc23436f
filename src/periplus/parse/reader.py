"""What does a page say, and where do its links lead?

Shared by the crawl, which reads pages as they arrive, and by recovery, which reads them again from the archive.
"""

from __future__ import annotations

import asyncio

from periplus.crawl.crash_guard import Vigil
from periplus.model import Page, Response
from periplus.parse.page import PageParser
from periplus.parse.sitemap import Sitemap, read_sitemap
from periplus.url import Canonicalizer


class PageReader:
    """Parses responses, and lets somebody watch."""

    def __init__(self, parser: PageParser, vigil: Vigil | None = None) -> None:
        """*vigil*: somebody watches over this process while it reads."""
        self._parser, self._vigil = parser, vigil

    def parse(self, response: Response, *, aside: bool = False) -> Page:
        """The fields, text and links of a response; *aside*: `is_read_aside` is true of it."""
        if aside or self._vigil is None:
            return self._parser.skim(response, aside=aside or None)
        self._vigil.begin(response.url)
        try:
            return self._parser.skim(response, aside=False)
        finally:
            self._vigil.end()

    def parse_list(self, response: Response, canonicalizer: Canonicalizer) -> Sitemap | None:
        """What a sitemap lists; None for one that nobody should try to read any more."""
        if self._vigil is None:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        if self._vigil.gives_up(response.url):
            return None
        self._vigil.begin(response.url)
        try:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        finally:
            self._vigil.end()

    async def parse_aside(self, response: Response) -> Page | None:
        """The same for what is read aside, while others go on; None for everything else."""
        if not self.is_read_aside(response):
            return None
        return await asyncio.to_thread(self._parser.skim, response, aside=True)

    def is_read_aside(self, response: Response) -> bool:
        """Whether it is left to the process behind the fence: for what it is, or because of what its host did."""
        return self._parser.is_read_aside(response) or (self._vigil is not None and self._vigil.distrusts(response.url))

    def close(self) -> None:
        """Let go of what reads what takes long."""
        self._parser.close()

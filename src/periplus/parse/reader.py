"""What does a page say, and where do its links lead?

Shared by the crawl, which reads pages as they arrive, and by recovery, which reads them again from the archive.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from periplus.model import Page, Response
from periplus.parse.page import PageParser
from periplus.parse.sitemap import Sitemap, read_sitemap
from periplus.url import Canonicalizer


class CrashMonitor(Protocol):
    """Learns which URL this process is parsing, so that another process can tell which one crashed it."""

    def begin(self, url: str) -> None:
        """Note the URL that is about to be parsed."""
        ...

    def end(self) -> None:
        """Note that it has been parsed."""
        ...

    def distrusts(self, url: str) -> bool:
        """Whether the sandbox must parse a URL."""
        ...

    def gives_up(self, url: str) -> bool:
        """Whether a URL has crashed too many processes to be parsed at all."""
        ...


class PageReader:
    """Parses responses, and reports the URL that it parses to a crash monitor."""

    def __init__(self, parser: PageParser, monitor: CrashMonitor | None = None) -> None:
        self._parser, self._monitor = parser, monitor

    def parse(self, response: Response, *, aside: bool = False) -> Page:
        """The fields, text and links of a response; *aside*: `is_read_aside` is true of it."""
        if aside or self._monitor is None:
            return self._parser.skim(response, aside=aside or None)
        self._monitor.begin(response.url)
        try:
            return self._parser.skim(response, aside=False)
        finally:
            self._monitor.end()

    def parse_list(self, response: Response, canonicalizer: Canonicalizer) -> Sitemap | None:
        """What a sitemap lists; None for one that nobody should try to read any more."""
        if self._monitor is None:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        if self._monitor.gives_up(response.url):
            return None
        self._monitor.begin(response.url)
        try:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        finally:
            self._monitor.end()

    async def parse_aside(self, response: Response) -> Page | None:
        """The same for what is read aside, while others go on; None for everything else."""
        if not self.is_read_aside(response):
            return None
        return await asyncio.to_thread(self._parser.skim, response, aside=True)

    def is_read_aside(self, response: Response) -> bool:
        """Whether it is left to the process behind the fence: for what it is, or because of what its host did."""
        return self._parser.is_read_aside(response) or (
            self._monitor is not None and self._monitor.distrusts(response.url)
        )

    def close(self) -> None:
        """Let go of what reads what takes long."""
        self._parser.close()

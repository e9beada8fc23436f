"""Parses responses in a worker, and reports to the crash guard which URL is being parsed.

The crawl uses it for new responses; recovery and import use it for archived ones.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from periplus.model import Page, Response
from periplus.parse.formats.sitemap import Sitemap, read_sitemap
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer


class CrashMonitor(Protocol):
    """Records the URL that this process is parsing, so that the supervisor knows which URL crashed the process."""

    def begin(self, url: str) -> None:
        """Record the URL before parsing starts."""
        ...

    def end(self) -> None:
        """Clear the URL after parsing."""
        ...

    def needs_sandbox(self, url: str) -> bool:
        """Whether the sandbox must parse a URL."""
        ...

    def must_skip(self, url: str) -> bool:
        """Whether a URL has crashed too many processes to be parsed at all."""
        ...


class PageReader:
    """Parses responses, and reports the URL that it parses to a crash monitor."""

    def __init__(self, parser: PageParser, monitor: CrashMonitor | None = None) -> None:
        self._parser, self._monitor = parser, monitor

    def parse(self, response: Response, *, sandboxed: bool = False) -> Page:
        """Parse a response quickly; *sandboxed*: in the sandbox, because `needs_sandbox` is true of the response."""
        if sandboxed or self._monitor is None:
            return self._parser.skim(response, sandboxed=sandboxed or None)
        self._monitor.begin(response.url)
        try:
            return self._parser.skim(response, sandboxed=False)
        finally:
            self._monitor.end()

    def parse_sitemap(self, response: Response, canonicalizer: Canonicalizer) -> Sitemap | None:
        """Parse a sitemap; None for a URL that has crashed too many processes."""
        if self._monitor is None:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        if self._monitor.must_skip(response.url):
            return None
        self._monitor.begin(response.url)
        try:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        finally:
            self._monitor.end()

    async def parse_in_sandbox(self, response: Response) -> Page | None:
        """Parse a response in the sandbox without blocking the event loop; None if it does not need the sandbox."""
        if not self.needs_sandbox(response):
            return None
        return await asyncio.to_thread(self._parser.skim, response, sandboxed=True)

    def needs_sandbox(self, response: Response) -> bool:
        """Whether to parse a response in the sandbox: a PDF, a large page, or a host that crashed a worker before."""
        return self._parser.needs_sandbox(response) or (
            self._monitor is not None and self._monitor.needs_sandbox(response.url)
        )

    def close(self) -> None:
        """End the sandbox process."""
        self._parser.close()

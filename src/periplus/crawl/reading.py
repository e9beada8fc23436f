"""What does a page say, and where do its links lead?

Shared by the crawl, which reads pages as they arrive, and by recovery, which reads them again from the archive.
"""

from __future__ import annotations

import asyncio

from periplus.crawl.vigil import Vigil
from periplus.model import Fetch, Page, Response
from periplus.parse.page import PageParser
from periplus.parse.sitemap import Sitemap, read_sitemap
from periplus.store.manifest import PageRow, Target
from periplus.url import Canonicalizer, host_of, url_id

_TARGETS_REMEMBERED = 20_000


class PageReader:
    """Parses responses; remembers the identities of link targets, because pages of one site link to the same ones."""

    def __init__(self, parser: PageParser, vigil: Vigil | None = None) -> None:
        """*vigil*: somebody watches over this process while it reads."""
        self._parser, self._vigil = parser, vigil
        self._targets = _Targets()

    def parse(self, response: Response, *, aside: bool = False) -> Page:
        """The fields, text and links of a response; *aside*: `is_read_aside` is true of it."""
        if aside or self._vigil is None:
            return self._parser.skim(response, aside=aside or None)
        self._vigil.begin(response.url)
        page = self._parser.skim(response, aside=False)
        self._vigil.end()
        return page

    def parse_list(self, response: Response, canonicalizer: Canonicalizer) -> Sitemap | None:
        """What a sitemap lists; None for one that nobody should try to read any more."""
        if self._vigil is None:
            return read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        if self._vigil.gives_up(response.url):
            return None
        self._vigil.begin(response.url)
        found = read_sitemap(response.body, response.url, canonicalizer, now=response.fetched_at)
        self._vigil.end()
        return found

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

    def row(self, fetch: Fetch, page: Page) -> PageRow:
        """The page as a row of a segment."""
        if len(self._targets) > _TARGETS_REMEMBERED:
            self._targets.clear()
        targets = [self._targets[target] for target, _, _ in page.links]
        return PageRow(fetch, url_id(fetch.url), host_of(fetch.url), page, targets)


class _Targets(dict[str, Target]):
    def __missing__(self, url: str) -> Target:
        target = self[url] = Target(url_id(url), host_of(url))
        return target

"""Checks after a killed crawl: is any page lost, or fetched again without need?"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fastwarc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from crawl.crawling import catalog_of, segment_rows, sound
from testweb import Site, TestWeb


class KillChecks:
    """Checks one collection of one web after every run, against the log of the web."""

    def __init__(self, web: TestWeb, sites: Sequence[Site], home: Path) -> None:
        self.web, self.home = web, home
        self.expected = {
            url: site.pages[url.removeprefix(f"http://{site.host}")].title for site in sites for url in site.urls()
        }
        self.acknowledged: set[str] = set()
        self._origins = [f"http://{site.host}" for site in sites]
        self._requests = 0  # checked so far
        self._has_seed = False

    def seeds(self, seed: str) -> list[str]:
        """The seeds that begin or continue a crawl: naming a seed after a finished run would recrawl it."""
        return [] if self._has_seed else [seed]

    def look(self, at_stake: int, *, workers_died: bool = False) -> None:
        """Compare what the last run requested with what is acknowledged; up to *at_stake* requests may be lost.

        Checks a copy, so that the next run finds the collection unchanged. Requests of a dead worker are repeated.
        """
        self._settle()
        asked = [entry.url for entry in self.web.log.entries()[self._requests :]]
        self._requests += len(asked)
        again = self.acknowledged.intersection(asked)
        assert not again, f"acknowledged, but requested again: {sorted(again)[:3]}"
        assert workers_died or max(Counter(asked).values(), default=0) <= 1, "requested twice by one run"
        copy = self.home.with_name("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.home, copy) if self.home.exists() else copy.mkdir()
        now = self._settled(copy) if has_catalog(copy) else set()
        forgotten = self.acknowledged - now
        assert not forgotten, f"acknowledged, but forgotten: {sorted(forgotten)[:3]}"
        self.acknowledged = now
        lost = set(asked) - now
        assert len(lost) <= at_stake, f"{len(lost)} requests were not acknowledged"

    def assert_complete(self) -> None:
        """Every page is stored once: in the catalog, in the segments, and in the archive as read by two libraries."""
        findings = sound(self.home)
        pages = len(self.expected)
        assert (findings.checked["records"], findings.checked["pages"]) == (pages, pages)
        rows = segment_rows(self.home, "pages")
        assert len(rows) == pages
        assert {row["url"]: row["title"] for row in rows} == self.expected
        with catalog_of(self.home) as catalog:
            assert catalog.counters() == catalog.recount()
            assert catalog.counters()["done"] == pages
        assert _by_warcio(self.home) == _by_fastwarc(self.home) == dict.fromkeys(self.expected, 1)

    def _settle(self) -> None:
        """Wait until the web has read the last requests of a run, which would otherwise count for the next."""
        calm = 0
        while calm < 5:
            seen = len(self.web.log.entries())
            time.sleep(0.005)
            still_open = any(connection.closed is None for connection in self.web.log.connections())
            calm = 0 if still_open or len(self.web.log.entries()) > seen else calm + 1

    def _settled(self, home: Path) -> set[str]:
        """Every URL that has left the queue, and every robots.txt that is known."""
        sound(home)
        with catalog_of(home) as catalog:
            self._has_seed = bool(catalog.seeds())
            urls = {url for url in catalog.known_urls() if (row := catalog.url(url)) and row["state"]}
            return urls | {f"{origin}/robots.txt" for origin in self._origins if catalog.robots(origin)}


def has_catalog(home: Path) -> bool:
    """Whether a run came so far that there is a catalog."""
    return (home / "crawl.db").exists() and (home / "crawl.db").stat().st_size > 0


def _by_warcio(home: Path) -> Counter[str]:
    found = Counter[str]()
    for file in (home / "archive").iterdir():
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type == "response":
                    assert record.content_stream().read().endswith(b"</html>\n")
                    found[record.rec_headers.get_header("WARC-Target-URI")] += 1
    return found


def _by_fastwarc(home: Path) -> Counter[str]:
    found = Counter[str]()
    for file in (home / "archive").iterdir():
        with file.open("rb") as stream:
            for record in FastIterator(stream):
                if record.headers["WARC-Type"] == "response":
                    found[record.headers["WARC-Target-URI"]] += 1
    return found

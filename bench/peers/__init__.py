"""Other crawlers for comparison, each with its fastest configuration."""

from __future__ import annotations

from collections.abc import Sequence

from harness.crawler import Crawler
from harness.errors import BenchError
from peers.crawlee_peer import Crawlee
from peers.scrapy_peer import Scrapy
from peers.wget2_peer import Wget2

KNOWN: dict[str, type[Crawlee] | type[Scrapy] | type[Wget2]] = {"scrapy": Scrapy, "crawlee": Crawlee, "wget2": Wget2}


def select(names: Sequence[str]) -> list[Crawler]:
    """The peers with these names."""
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise BenchError(f"unknown peer {', '.join(unknown)}: choose from {', '.join(KNOWN)}")
    return [KNOWN[name]() for name in names]

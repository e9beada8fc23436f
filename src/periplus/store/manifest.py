"""What goes into a segment, and what is it called?

Apart from the code that writes them, which brings the library for it along: the process that watches over a crawl, and
every command that only asks the catalog, does without.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.errors import DamagedFile
from periplus.model import Fetch, Page

UNFINISHED, UNFINISHED_AGAIN = ".tmp", ".again"  # written by a crawl, by a second reading
_NAME = re.compile(r"\w+-w(\d+)-(\d+)(?:-r(\d+))?\.parquet")


class SealedSegment(NamedTuple):
    """One line of the manifest."""

    name: str
    kind: str  # pages or links
    rows: int
    size: int
    sha256: bytes


class PageRow(NamedTuple):
    """A parsed page with what the crawl knows about it."""

    fetch: Fetch
    page: Page


def segment_name(kind: str, worker: int, number: int, revision: int = 0) -> str:
    """The name of a worker's n-th segment of a kind; it changes when its pages are read again."""
    return f"{kind}-w{worker:02d}-{number:06d}{f'-r{revision}' if revision else ''}.parquet"


def place_of(name: str) -> tuple[int, int, int]:
    """Worker, number and revision of a segment."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise DamagedFile(f"{name} is not the name of a segment")
    worker, number, revision = found.groups(default="0")
    return int(worker), int(number), int(revision)

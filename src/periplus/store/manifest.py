"""Records and file names of segments.

Separate from `segments`, which imports Arrow: the supervisor and commands that only read the catalog do without it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.errors import DamagedFile
from periplus.model import Fetch, Page

UNFINISHED, UNFINISHED_AGAIN = ".tmp", ".again"  # suffixes of temporary files of a crawl, and of a reparse
_NAME = re.compile(r"\w+-w(\d+)-(\d+)(?:-r(\d+))?\.parquet")


class SealedSegment(NamedTuple):
    """One entry of the manifest: a complete segment file."""

    name: str
    kind: str  # pages or links
    rows: int
    size: int
    digest: bytes  # see `checksums`


class PageRow(NamedTuple):
    """A parsed page, and the fetch that it is from."""

    fetch: Fetch
    page: Page


def segment_name(kind: str, worker: int, number: int, revision: int = 0) -> str:
    """Return the name of a worker's n-th segment of a kind; each reparse raises the revision."""
    return f"{kind}-w{worker:02d}-{number:06d}{f'-r{revision}' if revision else ''}.parquet"


def place_of(name: str) -> tuple[int, int, int]:
    """Parse worker, number and revision from the name of a segment."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise DamagedFile(f"{name} is not the name of a segment")
    worker, number, revision = found.groups(default="0")
    return int(worker), int(number), int(revision)

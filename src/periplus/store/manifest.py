"""Records and file names of segments.

Separate from `segments`, which imports Arrow: the supervisor and commands that only read the catalog do without it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.errors import DamagedFile
from periplus.model import Fetch, Page

UNFINISHED, UNFINISHED_AGAIN = ".tmp", ".again"  # suffixes of temporary files of a crawl, and of a reparse
_NAME = re.compile(r"(\w+)-w(\d+)-(\d+)(?:-(\d+))?(?:-r(\d+))?\.parquet")


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


class Place(NamedTuple):
    """The place of a segment among those of its worker."""

    worker: int
    number: int  # from 1
    revision: int  # each reparse raises it
    last: int  # the number of the last segment that was merged into this one; its own number when none was

    def covers(self, other: Place) -> bool:
        """Whether this segment has pages of the numbers of another one."""
        return self.worker == other.worker and self.number <= other.last and other.number <= self.last


def segment_name(kind: str, worker: int, number: int, revision: int = 0, last: int = 0) -> str:
    """Return the name of a worker's n-th segment of a kind; a merged segment also has its *last* number."""
    until = f"-{last:06d}" if last > number else ""
    return f"{kind}-w{worker:02d}-{number:06d}{until}{f'-r{revision}' if revision else ''}.parquet"


def place_of(name: str) -> Place:
    """Parse the place from the name of a segment."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise DamagedFile(f"{name} is not the name of a segment")
    _, worker, number, last, revision = found.groups(default="0")
    return Place(int(worker), int(number), int(revision), max(int(last), int(number)))

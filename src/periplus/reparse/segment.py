"""How is one segment read again?

Page by page from the archive. A record that is damaged, and a page that no parser gets through, leave the row as it
was: skimmed, or read by an earlier release. When too many rows of a segment are like that, all of it stays.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pyarrow import ArrowException

from periplus.config import Settings
from periplus.errors import DamagedFile
from periplus.model import COULD_NOT_BE_READ, ArchivePosition, Decision, Fetch, Page, Reason, Verdict
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.reparse.previous_rows import PreviousRows
from periplus.store.archive import read_response
from periplus.store.collection import open_collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow, SealedSegment, place_of
from periplus.store.schema import read_pages
from periplus.store.segments import SegmentWriter
from periplus.url import Canonicalizer

_COLUMNS = [
    "url",
    "fetched_at",
    "status",
    "mime",
    "content_id",
    "last_modified",
    "archive",
    "offset",
    "length",
    "noindex",
]
_ROWS_AT_ONCE = 256
_MOST_UNREAD = 100  # rows of a segment that are taken over one by one


class Unread(NamedTuple):
    """What could not be read again."""

    what: str  # the address of a page, or the name of a segment
    why: str
    pages: int = 1


class Reading(NamedTuple):
    """What became of a segment."""

    successors: list[SealedSegment]  # of its pages and links; none: it stays as it is
    unread: list[Unread]
    failed_extractors: Counter[str]  # pages by the name of an extractor that failed over them


class SegmentReader:
    """Reads segments one after the other, with one parser."""

    def __init__(self, home: Path, settings: Settings, *, is_apart: bool) -> None:
        """*is_apart*: this process is there for nothing else, so it may die over a page."""
        self._collection, self._settings, self._is_apart = open_collection(home), settings, is_apart
        self._parser = PageParser(
            Canonicalizer.of(settings.addresses), links_per_page=settings.scope.links_per_page, settings=settings.parse
        )
        self._reader = PageReader(self._parser)

    def __enter__(self) -> SegmentReader:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._parser.close()

    def read_again(self, segment: SealedSegment, *, sandboxed: bool) -> Reading:
        """Write the successor of one segment of pages and of the links beside it.

        *sandboxed*: every page behind the fence; otherwise those that always are.
        """
        worker, number, revision = place_of(segment.name)
        unread: list[Unread] = []
        failed_extractors: Counter[str] = Counter()
        try:
            with reporting_full_disk(self._collection.home):
                writer = SegmentWriter(self._collection.segments, worker, number, revision + 1)
                try:
                    for row in self._rows_of(segment.name, unread, sandboxed=sandboxed):
                        writer.add(row)
                        failed_extractors.update(row.page.failed_extractors)
                    return Reading(writer.seal(), unread, failed_extractors)
                except BaseException:
                    writer.discard()
                    raise
        except DamagedFile as error:
            return Reading([], [Unread(segment.name, str(error), segment.rows)], Counter())

    def _rows_of(self, name: str, unread: list[Unread], *, sandboxed: bool) -> Iterator[PageRow]:
        """The new rows in the order of the old ones; what could not be read again is noted, and as it was."""
        former = PreviousRows(self._collection.segments, name)
        for position, (fetch, is_shown) in enumerate(_fetches(self._collection.segments / name)):
            page, trouble = self._read(fetch, sandboxed=sandboxed)
            if trouble and (page is None or is_shown):
                page = former.page(position)
                unread.append(Unread(fetch.url, trouble))
                if len(unread) > _MOST_UNREAD:
                    why = f"{fetch.url}: {trouble}"
                    raise DamagedFile(f"more than {_MOST_UNREAD} pages cannot be read again", why)
            assert page is not None
            yield PageRow(fetch, page)

    def _read(self, fetch: Fetch, *, sandboxed: bool) -> tuple[Page | None, str]:
        """The page as far as it could be read, and what went wrong."""
        assert fetch.position is not None
        try:
            response = read_response(self._collection.archive, fetch.position)
        except DamagedFile as error:
            return None, str(error)
        if sandboxed or self._parser.needs_sandbox(response):
            page = self._parser.parse(response, sandboxed=True)
        else:
            with self._dying_of_age():
                page = self._parser.parse(response, sandboxed=False)
        failed = page.problem in COULD_NOT_BE_READ
        return page, f"{page.problem}: {page.problem_detail}" if failed else ""

    @contextmanager
    def _dying_of_age(self) -> Iterator[None]:
        """A page that takes too long ends this process, and is read behind the fence by the next one."""
        if not self._is_apart:
            yield
            return
        signal.setitimer(signal.ITIMER_PROF, self._settings.parse.seconds)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)


def _fetches(path: Path) -> Iterator[tuple[Fetch, bool]]:
    """What the crawl knows about each row, and whether anybody is shown the page."""
    try:
        for batch in read_pages(path, _COLUMNS, _ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield (
                    Fetch(
                        url=row["url"],
                        at=row["fetched_at"],
                        status=row["status"],
                        decision=Decision(Verdict.FETCHED, Reason.OK),
                        mime=row["mime"],
                        content_id=row["content_id"],
                        position=ArchivePosition(row["archive"], row["offset"], row["length"]),
                        last_modified=row["last_modified"],
                    ),
                    not row["noindex"],
                )
    except (ArrowException, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error), "`periplus verify` tells what else is.") from error

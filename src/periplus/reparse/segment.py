"""Parses the pages of one segment again, from the archive, and writes its successor.

Each file of the segment is checked against its size and digest before it is read; a damaged segment is kept as it is. A
page that cannot be parsed, or whose WARC record is damaged, keeps its previous row. A segment with more than 100 such
rows is kept as a whole.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pyarrow import ArrowException

from periplus.config import Settings
from periplus.errors import DamagedFile, ObjectMissing
from periplus.model import COULD_NOT_BE_READ, ArchivePosition, Decision, Fetch, Page, Reason, Verdict
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.reparse.plan import PlannedSegment
from periplus.reparse.previous_rows import PreviousRows
from periplus.store.archive.archive_lookup import read_archived
from periplus.store.block_list import BlockList
from periplus.store.catalog.open_catalog import block_list_of
from periplus.store.checksums import segment_file
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk
from periplus.store.manifest import PageRow, SealedSegment, place_of
from periplus.store.segments.schema import read_pages
from periplus.store.segments.segment_writer import SegmentWriter
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
_MOST_UNREAD = 100  # rows of a segment that are copied one by one


class Cause(StrEnum):
    """What could not be read."""

    PAGE = "page"  # the parser failed
    RECORD = "record"  # a WARC record is damaged
    SEGMENT = "segment"  # a file of the segment is damaged


class Unread(NamedTuple):
    """A page or segment that could not be parsed again."""

    what: str  # the URL of a page, or the name of a segment
    why: str
    pages: int = 1
    cause: Cause = Cause.PAGE


class _TooManyUnread(Exception):  # noqa: N818  # its handler keeps the segment as it is
    def __init__(self, unread: list[Unread]) -> None:
        last = unread[-1]
        super().__init__(f"more than {_MOST_UNREAD} pages cannot be parsed: {last.what}: {last.why}")
        self.cause = Cause.RECORD if any(entry.cause is Cause.RECORD for entry in unread) else Cause.PAGE


class Reading(NamedTuple):
    """The result of parsing one segment."""

    successors: list[SealedSegment]  # of its pages and links; empty: the segment is kept
    unread: list[Unread]
    failed_extractors: Counter[str]  # number of pages by extractor


class SegmentReader:
    """Parses segments one after the other, with one parser."""

    def __init__(
        self,
        collection: Collection,
        settings: Settings,
        *,
        is_child: bool,
        target: Path | None = None,
        blocked: BlockList | None = None,
    ) -> None:
        """*is_child*: this is a reader process, which a page may kill without harm.

        *target*: the folder of the successors, *blocked*: links to leave out; None: those of the collection.
        """
        self._collection, self._settings, self._is_child = collection, settings, is_child
        self._target, self._blocked = target or collection.segments, blocked
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

    def reparse(self, segment: PlannedSegment, *, sandboxed: bool) -> Reading:
        """Write the successors of the two files of a segment.

        *sandboxed*: parse every page in the sandbox; otherwise only those that need it.
        """
        place = place_of(segment.pages.name)
        unread: list[Unread] = []
        failed_extractors: Counter[str] = Counter()
        try:
            with reporting_full_disk(self._target):
                blocked = block_list_of(self._collection) if self._blocked is None else self._blocked
                writer = SegmentWriter(
                    self._target, place.worker, place.number, place.revision + 1, place.last, blocked
                )
                try:
                    for row in self._rows_of(segment, unread, sandboxed=sandboxed):
                        writer.add(row)
                        failed_extractors.update(row.page.failed_extractors)
                    return Reading(writer.seal(), unread, failed_extractors)
                except BaseException:
                    writer.discard()
                    raise
        except DamagedFile as error:
            return _kept(segment.pages, error.sentence, Cause.SEGMENT)
        except _TooManyUnread as error:
            return _kept(segment.pages, str(error), error.cause)

    def _rows_of(self, segment: PlannedSegment, unread: list[Unread], *, sandboxed: bool) -> Iterator[PageRow]:
        """The new rows in the order of the old ones; adds failures to *unread* and yields their previous rows."""
        pages, links = (segment_file(self._collection.segments, file) for file in segment)
        pages.require_intact()
        previous = PreviousRows(pages, links)
        for position, (fetch, is_shown) in enumerate(_fetches(pages.path)):
            page, problem = self._read(fetch, sandboxed=sandboxed)
            if problem and (page is None or is_shown):
                unread.append(Unread(fetch.url, problem, cause=Cause.RECORD if page is None else Cause.PAGE))
                if len(unread) > _MOST_UNREAD:
                    raise _TooManyUnread(unread)
                page = previous.page(position)
            assert page is not None
            yield PageRow(fetch, page)

    def _read(self, fetch: Fetch, *, sandboxed: bool) -> tuple[Page | None, str]:
        """The parsed page, and the problem; None when the archive record is damaged."""
        assert fetch.position is not None
        try:
            response = read_archived(self._collection, fetch.position)
        except (DamagedFile, ObjectMissing) as error:
            return None, error.sentence
        if sandboxed or self._parser.needs_sandbox(response):
            page = self._parser.parse(response, sandboxed=True)
        else:
            with self._cpu_limit():
                page = self._parser.parse(response, sandboxed=False)
        failed = page.problem in COULD_NOT_BE_READ
        return page, f"{page.problem}: {page.problem_detail}" if failed else ""

    @contextmanager
    def _cpu_limit(self) -> Iterator[None]:
        """Kill this process when a page takes too long; the next process parses the segment in the sandbox."""
        if not self._is_child:
            yield
            return
        signal.setitimer(signal.ITIMER_PROF, self._settings.parse.seconds)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)


def _fetches(path: Path) -> Iterator[tuple[Fetch, bool]]:
    """The fetch of each row, and whether its page is indexed."""
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
        raise DamagedFile(f"{path} is damaged", str(error)) from error


def _kept(pages: SealedSegment, why: str, cause: Cause) -> Reading:
    """The result for a segment that stays as it is."""
    return Reading([], [Unread(pages.name, why, pages.rows, cause)], Counter())

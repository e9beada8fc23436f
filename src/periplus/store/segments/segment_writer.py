"""Writes parsed pages and links into segments, the Parquet files that ranking and indexing read.

A segment is a pair of files (pages and links), written once and never changed. Its content can be parsed again from the
archive.
"""

from __future__ import annotations

import logging
import math
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.config import Storage
from periplus.model import Page, Reason
from periplus.store.block_list import NOTHING_BLOCKED, BlockList
from periplus.store.catalog.catalog import Catalog
from periplus.store.checksums import file_digest
from periplus.store.durable import move_into_place, reporting_full_disk
from periplus.store.manifest import UNFINISHED, UNFINISHED_AGAIN, PageRow, SealedSegment, segment_name
from periplus.store.segments.schema import LINKS, PAGES, SCHEMA_VERSION, SKIMMED_PAGES, SKIMMED_VERSION, described
from periplus.url import host_of, url_id

logger = logging.getLogger("periplus.store")

_IDLE_AGE = 5.0  # seconds after which an idle worker completes its segment
_IDLE_INTERVAL = 60.0  # minimum seconds between two segments of an idle worker, against many small ones
_REPEATING_COLUMNS = {
    "pages": ["host", "mime", "language", "archive", "categories.list.element", "problem"],
    "links": ["source_id", "source_host", "target_host", "target_id", "target", "anchor", "fetched_at"],
}
_ROW_GROUP_PAGES = 256  # this and the next limit the memory for unwritten pages
_ROW_GROUP_CHARACTERS = 2 << 20
_LINK_ENDS_CACHED = 20_000
_UNWRITABLE = (ValueError, TypeError, OverflowError)  # what Arrow raises for an invalid value, not for a full disk


class SegmentWriter:
    """Collects pages into one segment; readers see nothing of it before `seal`."""

    def __init__(
        self,
        folder: Path,
        worker: int,
        number: int,
        revision: int = 0,
        last: int = 0,
        blocked: BlockList = NOTHING_BLOCKED,
    ) -> None:
        """Revision 0 has the fields that a crawl extracts; later ones, of a reparse, have all fields.

        *last*: the last number, when a merged segment is parsed again. *blocked*: links to leave out.
        """
        self._folder, self.worker, self.number, self._revision, self._last = folder, worker, number, revision, last
        self._rows: list[PageRow] = []
        self._waiting = 0  # characters of unwritten text
        self._ends = _EndCache()
        self._pages = PAGES if revision else SKIMMED_PAGES
        self._blocked = blocked
        self._files = {"pages": self._begin("pages", self._pages)}
        try:
            self._files["links"] = self._begin("links", LINKS)
        except BaseException:
            self.discard()
            raise
        self.pages = 0

    def add(self, row: PageRow) -> None:
        """Add an acknowledged page, without its links to forgotten URLs."""
        if self._blocked:
            row = row._replace(page=without_blocked(row.page, self._blocked))
        self._rows.append(row)
        self._waiting += len(row.page.text)
        self.pages += 1
        if len(self._rows) >= _ROW_GROUP_PAGES or self._waiting >= _ROW_GROUP_CHARACTERS:
            self._flush()

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return sum(file.path.stat().st_size for file in self._files.values())

    def seal(self) -> list[SealedSegment]:
        """Complete and rename both files; they are live once the manifest lists them."""
        self._flush()
        return [self._finish(kind, file) for kind, file in self._files.items()]

    def discard(self) -> None:
        """Remove the unfinished files; the pages can be parsed again."""
        for file in self._files.values():
            file.discard()

    def _begin(self, kind: str, schema: pa.Schema) -> _OpenFile:
        path = self._folder / (self._name(kind) + (UNFINISHED_AGAIN if self._revision else UNFINISHED))
        version = SCHEMA_VERSION if self._revision else SKIMMED_VERSION
        return _OpenFile(path, open_writer(path, kind, described(kind, schema, version)))

    def _name(self, kind: str) -> str:
        return segment_name(kind, self.worker, self.number, self._revision, self._last)

    def _flush(self) -> None:
        if self._rows:
            pages, links = self._tables()
            self._files["pages"].write(pages)
            self._files["links"].write(links)
            if len(self._ends) > _LINK_ENDS_CACHED:
                self._ends.clear()
            self._rows.clear()
            self._waiting = 0

    def _tables(self) -> tuple[pa.Table, pa.Table]:
        """The rows as tables; a page that cannot be stored in a table is replaced by an empty page."""
        try:
            return _page_table(self._rows, self._pages), _link_table(self._rows, self._ends)
        except _UNWRITABLE:
            self._rows = [self._writable(row) for row in self._rows]
            return _page_table(self._rows, self._pages), _link_table(self._rows, self._ends)

    def _writable(self, row: PageRow) -> PageRow:
        try:
            _page_table([row], self._pages)
            _link_table([row], self._ends)
        except _UNWRITABLE:
            logger.exception("cannot write the page %s to a segment; please report this error", row.fetch.url)
            return row._replace(page=Page(noindex=True, problem=Reason.PARSE_CRASH))
        return row

    def _finish(self, kind: str, file: _OpenFile) -> SealedSegment:
        file.writer.close()
        return sealed(kind, file.path, self._folder / self._name(kind), file.rows)


def without_blocked(page: Page, blocked: BlockList) -> Page:
    """The page without the URLs that must not come back among its links, images, videos and feed entries."""
    return page._replace(
        canonical="" if page.canonical and blocked.blocks(page.canonical) else page.canonical,
        links=tuple(link for link in page.links if not blocked.blocks(link.target)),
        images=tuple(image for image in page.images if not blocked.blocks(image.url)),
        videos=tuple(video for video in page.videos if not blocked.blocks(video.url)),
        listed=tuple(entry for entry in page.listed if not blocked.blocks(entry.url)),
    )


def open_writer(path: Path, kind: str, schema: pa.Schema) -> parquet.ParquetWriter:
    """Begin a file of a segment; *schema* has its version in its metadata."""
    return parquet.ParquetWriter(
        path, schema, compression="zstd", compression_level=1, use_dictionary=_REPEATING_COLUMNS[kind]
    )


def sealed(kind: str, unfinished: Path, final: Path, rows: int) -> SealedSegment:
    """Rename a complete file to its final name; returns its entry of the manifest."""
    digest, size = file_digest(unfinished), unfinished.stat().st_size
    move_into_place(unfinished, final)
    return SealedSegment(final.name, kind, rows, size, digest)


class _OpenFile:
    """An unfinished Parquet file."""

    def __init__(self, path: Path, writer: parquet.ParquetWriter) -> None:
        self.path, self.writer, self.rows = path, writer, 0

    def discard(self) -> None:
        with suppress(OSError):  # on a full disk the footer cannot be written either
            self.writer.close()
        self.writer.is_open = False  # otherwise its destructor closes it again and raises
        self.path.unlink(missing_ok=True)

    def write(self, table: pa.Table) -> None:
        self.writer.write_table(table)
        self.rows += table.num_rows


def _page_table(rows: list[PageRow], schema: pa.Schema) -> pa.Table:
    columns = _skimmed(rows) if schema is SKIMMED_PAGES else _skimmed(rows) | _reparsed(rows)
    return pa.table([pa.array(columns[field.name], field.type) for field in schema], schema=schema)


def _skimmed(rows: list[PageRow]) -> dict[str, list[Any]]:
    positions = [row.fetch.position for row in rows]
    return {
        "url_id": [url_id(row.fetch.url) for row in rows],
        "url": [row.fetch.url for row in rows],
        "host": [host_of(row.fetch.url) for row in rows],
        "fetched_at": [row.fetch.at for row in rows],
        "status": [row.fetch.status for row in rows],
        "mime": [row.fetch.mime for row in rows],
        "content_id": [row.fetch.content_id for row in rows],
        "title": [row.page.title for row in rows],
        "description": [row.page.description for row in rows],
        "keywords": [row.page.keywords for row in rows],
        "headings": [row.page.headings for row in rows],
        "text": [row.page.text for row in rows],
        "language": [row.page.language for row in rows],
        "canonical": [row.page.canonical for row in rows],
        "noindex": [row.page.noindex for row in rows],
        "last_modified": [row.fetch.last_modified for row in rows],
        "archive": [position.name if position else None for position in positions],
        "offset": [position.offset if position else None for position in positions],
        "length": [position.length if position else None for position in positions],
    }


def _reparsed(rows: list[PageRow]) -> dict[str, list[Any]]:
    return {
        "main": [[edge for span in row.page.main for edge in span] for row in rows],
        "language_certainty": [row.page.language_certainty for row in rows],
        "categories": [row.page.categories for row in rows],
        "images": [[image._asdict() for image in row.page.images] for row in rows],
        "videos": [[video._asdict() for video in row.page.videos] for row in rows],
        "published": [row.page.published for row in rows],
        "modified": [row.page.modified for row in rows],
        "signature": [_signed(row.page.signature) for row in rows],
        "quality": [row.page.quality._asdict() for row in rows],
        "problem": [row.page.problem for row in rows],
        "listed": [[listed._asdict() for listed in row.page.listed] for row in rows],
    }


class _End(NamedTuple):
    """One end of a link: URL id and host of a page."""

    url_id: bytes
    host: str


class _EndCache(dict[str, _End]):
    """A cache of link ends by URL: the pages of one site link to the same pages."""

    def __missing__(self, url: str) -> _End:
        end = self[url] = _End(url_id(url), host_of(url))
        return end


def _link_table(rows: list[PageRow], ends: _EndCache) -> pa.Table:
    links = [link for row in rows for link in row.page.links]
    targets = [ends[link.target] for link in links]
    sources = [(ends[row.fetch.url], row.fetch.at, len(row.page.links)) for row in rows if row.page.links]
    columns = [
        _ids(b"".join([source.url_id * count for source, _, count in sources])),
        _ids(b"".join([target.url_id for target in targets])),
        pa.array([source.host for source, _, count in sources for _ in range(count)], pa.string()),
        pa.array([target.host for target in targets], pa.string()),
        pa.array([link.target for link in links], pa.string()),
        pa.array([link.anchor for link in links], pa.string()),
        pa.array([link.nofollow for link in links], pa.bool_()),
        pa.array([at for _, at, count in sources for _ in range(count)], pa.float64()),
    ]
    return pa.table(columns, schema=LINKS)


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


def _ids(joined: bytes) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(joined) // 16, [None, pa.py_buffer(joined)])


class SegmentStream:
    """Adds acknowledged pages to segments, and completes a segment when it is large or old enough."""

    def __init__(
        self, catalog: Catalog, folder: Path, settings: Storage, worker: int, *, is_stored: bool = True
    ) -> None:
        """*is_stored*: readers see a complete segment at once; otherwise after its upload."""
        self._catalog, self._folder, self._settings, self._worker = catalog, folder, settings, worker
        self._is_stored = is_stored
        self._open: SegmentWriter | None = None
        self._since = 0.0
        self._sealed = -math.inf  # when the last segment was completed
        self._covered: dict[int, int] = {}

    def add(self, rows: list[PageRow], archive_id: int, size: int) -> None:
        """Add the pages of one commit, after which the archive file has *size* bytes."""
        if rows and self._open is None:
            number, blocked = self._catalog.last_segment(self._worker) + 1, self._catalog.block_list()
            self._open = SegmentWriter(self._folder, self._worker, number, blocked=blocked)
            self._since = time.monotonic()
        for row in rows:
            assert self._open is not None
            self._open.add(row)
        self._covered[archive_id] = size
        if self._open is not None and self._is_due(self._open):
            self.seal()

    def seal(self) -> None:
        """Complete the open segment and add it to the manifest."""
        if not self._covered:
            return
        if self._open is None:
            self._catalog.seal(self._worker, 0, [], self._covered)
        else:
            with reporting_full_disk(self._folder):
                files, number = self._open.seal(), self._open.number
                self._catalog.seal(self._worker, number, files, self._covered, is_stored=self._is_stored)
            self._open = None
            self._sealed = time.monotonic()
        self._covered = {}

    def discard(self) -> None:
        """Remove an unfinished segment; its pages are still in the archive."""
        if self._open is not None:
            self._open.discard()
            self._open = None

    def is_overdue(self, *, idle: bool) -> bool:
        """Whether the open segment should be completed now; *idle*: the worker has nothing to do."""
        if self._open is None:
            return False
        now = time.monotonic()
        age = now - self._since
        is_idle_long = idle and age >= _IDLE_AGE and now - self._sealed >= _IDLE_INTERVAL
        return is_idle_long or age >= self._settings.segment_seconds

    def _is_due(self, segment: SegmentWriter) -> bool:
        age = time.monotonic() - self._since
        return age >= self._settings.segment_seconds or segment.size >= self._settings.segment_bytes

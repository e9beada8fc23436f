"""How do parsed pages and links become tables that every later stage can read?

A segment is a pair of Parquet files, written once and never changed. It is derived: everything in it can be parsed
again from the archive.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.model import Fetch, Page
from periplus.store.durable import move_into_place
from periplus.store.sealing import file_digest

SCHEMA_VERSION = 1
_ID = pa.binary(16)
_REPEATING = pa.dictionary(pa.int32(), pa.string())

PAGES = pa.schema(
    [
        ("url_id", _ID),
        ("url", pa.string()),
        ("host", pa.string()),
        ("fetched_at", pa.float64()),  # seconds since the epoch
        ("status", pa.int16()),
        ("mime", pa.string()),
        ("content_id", pa.binary(32)),  # SHA-256 of the payload
        ("title", pa.string()),
        ("description", pa.string()),
        ("keywords", pa.string()),
        ("headings", pa.list_(pa.string())),
        ("text", pa.string()),
        ("language", pa.string()),
        ("canonical", pa.string()),
        ("noindex", pa.bool_()),
        ("last_modified", pa.string()),
        ("archive", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
    ]
)
LINKS = pa.schema(
    [
        ("source_id", _ID),
        ("target_id", _ID),
        ("source_host", pa.string()),
        ("target_host", pa.string()),
        ("target", pa.string()),
        ("anchor", pa.string()),
        ("nofollow", pa.bool_()),
        ("fetched_at", pa.float64()),  # of the source: the latest version of a page is the one that counts
    ]
)
_REPEATING_COLUMNS = {
    "pages": ["host", "mime", "language", "archive"],
    "links": ["source_id", "source_host", "target_host", "target_id", "target", "anchor", "fetched_at"],
}
_ROW_GROUP_PAGES = 512  # these two bound what waits in memory
_ROW_GROUP_CHARACTERS = 16 << 20


class SealedSegment(NamedTuple):
    """One line of the manifest."""

    name: str
    kind: str  # pages or links
    rows: int
    size: int
    sha256: bytes


class Target(NamedTuple):
    """The end of a link: its identity and host, computed once for all the pages that link there."""

    url_id: bytes
    host: str


@dataclass(frozen=True, slots=True)
class PageRow:
    """A parsed page with what the crawl knows about it."""

    fetch: Fetch
    url_id: bytes
    host: str
    page: Page
    targets: Sequence[Target]  # beside page.links, one for one


def segment_name(kind: str, worker: int, number: int) -> str:
    """The name of a worker's n-th segment of a kind."""
    return f"{kind}-w{worker:02d}-{number:06d}.parquet"


class SegmentWriter:
    """Collects pages into one segment; nothing of it exists for readers before `seal`."""

    def __init__(self, folder: Path, worker: int, number: int) -> None:
        self._folder, self.worker, self.number = folder, worker, number
        self._rows: list[PageRow] = []
        self._waiting = 0  # characters of text
        self._files = {"pages": self._begin("pages", PAGES), "links": self._begin("links", LINKS)}
        self.pages = 0

    def add(self, row: PageRow) -> None:
        """Take a page that is acknowledged."""
        self._rows.append(row)
        self._waiting += len(row.page.text)
        self.pages += 1
        if len(self._rows) >= _ROW_GROUP_PAGES or self._waiting >= _ROW_GROUP_CHARACTERS:
            self._flush()

    @property
    def size(self) -> int:
        """What has been written so far."""
        return sum(file.path.stat().st_size for file in self._files.values())

    def seal(self) -> list[SealedSegment]:
        """Finish both files and give them their names; they are live once the manifest lists them."""
        self._flush()
        return [self._finish(kind, file) for kind, file in self._files.items()]

    def discard(self) -> None:
        """Drop what was collected; it can be parsed again."""
        for file in self._files.values():
            with suppress(OSError):  # a full disk has no room for the end of the file either
                file.writer.close()
            file.path.unlink(missing_ok=True)

    def _begin(self, kind: str, schema: pa.Schema) -> _OpenFile:
        described = schema.with_metadata({"periplus": json.dumps({"kind": kind, "version": SCHEMA_VERSION})})
        path = self._folder / (segment_name(kind, self.worker, self.number) + ".tmp")
        writer = parquet.ParquetWriter(
            path, described, compression="zstd", compression_level=1, use_dictionary=_REPEATING_COLUMNS[kind]
        )
        return _OpenFile(path, writer)

    def _flush(self) -> None:
        if self._rows:
            self._files["pages"].write(_page_table(self._rows))
            self._files["links"].write(_link_table(self._rows))
            self._rows.clear()
            self._waiting = 0

    def _finish(self, kind: str, file: _OpenFile) -> SealedSegment:
        file.writer.close()
        final = self._folder / segment_name(kind, self.worker, self.number)
        digest = file_digest(file.path)
        size = file.path.stat().st_size
        move_into_place(file.path, final)
        return SealedSegment(final.name, kind, file.rows, size, digest)


class _OpenFile:
    """A Parquet file being written."""

    def __init__(self, path: Path, writer: parquet.ParquetWriter) -> None:
        self.path, self.writer, self.rows = path, writer, 0

    def write(self, table: pa.Table) -> None:
        self.writer.write_table(table)
        self.rows += table.num_rows


def _page_table(rows: list[PageRow]) -> pa.Table:
    positions = [row.fetch.position for row in rows]
    columns = {
        "url_id": [row.url_id for row in rows],
        "url": [row.fetch.url for row in rows],
        "host": [row.host for row in rows],
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
    return pa.table([pa.array(columns[field.name], field.type) for field in PAGES], schema=PAGES)


def _link_table(rows: list[PageRow]) -> pa.Table:
    links = [link for row in rows for link in row.page.links]
    targets = [target for row in rows for target in row.targets]
    counts = [len(row.targets) for row in rows]
    columns = [
        _ids(b"".join(row.url_id * count for row, count in zip(rows, counts, strict=True))),
        _ids(b"".join([target.url_id for target in targets])),
        pa.array([row.host for row, count in zip(rows, counts, strict=True) for _ in range(count)], pa.string()),
        pa.array([target.host for target in targets], pa.string()),
        pa.array([link.target for link in links], pa.string()),
        pa.array([link.anchor for link in links], pa.string()),
        pa.array([link.nofollow for link in links], pa.bool_()),
        pa.array([row.fetch.at for row, count in zip(rows, counts, strict=True) for _ in range(count)], pa.float64()),
    ]
    return pa.table(columns, schema=LINKS)


def _ids(joined: bytes) -> pa.Array:
    return pa.FixedSizeBinaryArray.from_buffers(_ID, len(joined) // 16, [None, pa.py_buffer(joined)])


def schema_version(path: Path) -> tuple[str, int] | None:
    """The kind and version a segment states about itself."""
    try:
        stated = json.loads((parquet.read_schema(path).metadata or {})[b"periplus"])
        return str(stated["kind"]), int(stated["version"])
    except (KeyError, ValueError):
        return None

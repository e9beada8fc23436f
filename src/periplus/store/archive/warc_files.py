"""Writes and reads the WARC files of the archive.

WARC 1.1 with one gzip member per record, so any WARC tool can read a file, and one record can be read by its offset. A
request record precedes each response record. Bodies are stored decoded: headers that described the transfer get the
prefix ``X-Crawler-``, as in Common Crawl's files, so that the block stays a valid HTTP message. An unchanged body is
not stored again: a *revisit* record refers to the earlier one.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fastwarc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import isal_zlib

from periplus.errors import DamagedFile
from periplus.model import ArchivePosition, Fetch, Response, add_header
from periplus.store.archive.warc import NOT_MODIFIED, exchange, warcinfo
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.durable import reporting_full_disk, sync_directory

SUFFIX = ".warc.gz"
_NAME = re.compile(rf"w(\d{{2,}})-(\d{{6,}})(?:-r(\d+))?{re.escape(SUFFIX)}")
_COMPRESSION = 1  # measured: four times as fast as zlib's; level 2 saves 1 % of the size and costs 3 % of the time
_SMALL, _SMALL_COMPRESSION = 1024, 0  # bytes; for a request record the set-up of a better level takes too long
_GZIP = 31  # zlib's window bits for "with a gzip header"


class Archived(NamedTuple):
    """The position of an archived response, and the hash of its payload."""

    position: ArchivePosition
    content_id: bytes
    is_revisit: bool = False  # unchanged: the record only refers to the earlier version


@dataclass(frozen=True, slots=True)
class Pending:
    """Records that are not written yet, and the size of the file after writing them."""

    members: list[bytes]
    size: int


class ArchiveWriter:
    """Appends responses to one WARC file; a response is durable when `sync` has returned for its cut."""

    def __init__(self, folder: Path, name: str, size: int) -> None:
        """Continue *name* at *size* bytes; unacknowledged bytes after that are cut off. 0 creates the file."""
        self.name = name
        self._folder = folder
        path = folder / name
        self._descriptor = _open(path, new=size == 0)
        self._buffer: list[bytes] = []
        self.size = size
        if os.fstat(self._descriptor).st_size < size:
            os.close(self._descriptor)
            raise DamagedFile(f"{path} is shorter than its acknowledged size", f"expected at least {size} bytes")
        os.ftruncate(self._descriptor, size)
        os.lseek(self._descriptor, size, os.SEEK_SET)
        self._new = size == 0
        if self._new:
            self._add(warcinfo(name))

    @classmethod
    def resume(cls, folder: Path, worker: int, files: Sequence[ArchiveFile]) -> ArchiveWriter:
        """Continue the last of a worker's archive *files*, or create its first one."""
        return cls(folder, files[-1].name, files[-1].committed) if files else cls(folder, archive_name(worker, 1), 0)

    @classmethod
    def begin(cls, folder: Path, worker: int, files: Sequence[ArchiveFile]) -> ArchiveWriter:
        """Create a worker's next archive file after *files*, which are complete."""
        last = max((parse_archive_name(file.name)[1] for file in files), default=0)
        return cls(folder, archive_name(worker, last + 1), 0)

    def next_file(self) -> ArchiveWriter:
        """Create the worker's next archive file; this one stays open."""
        worker, number = parse_archive_name(self.name)
        return ArchiveWriter(self._folder, archive_name(worker, number + 1), 0)

    def append(self, response: Response, earlier: Fetch | None = None) -> Archived:
        """Queue a request and its response for writing; returns the position of the response.

        *earlier* is the last version of the same page: an unchanged response becomes a revisit record.
        """
        content_id = hashlib.sha256(response.body).digest()
        profile = ""
        if earlier is not None and response.status == NOT_MODIFIED:
            profile, content_id = "server-not-modified", earlier.content_id
        elif earlier is not None and earlier.content_id == content_id:
            profile = "identical-payload-digest"
        request, answer = exchange(response, content_id, earlier if profile else None, profile)
        self._add(request)
        offset = self.size
        length = self._add(answer)
        return Archived(ArchivePosition(self.name, offset, length), content_id, bool(profile))

    @property
    def has_waiting(self) -> bool:
        """Whether there are records since the last cut."""
        return bool(self._buffer)

    def cut(self) -> Pending:
        """Take the records since the last cut; another thread may `sync` them while this one appends."""
        pending = Pending(self._buffer, self.size)
        self._buffer = []
        return pending

    def sync(self, pending: Pending) -> None:
        """Write and fsync the records of a cut."""
        _write_all(self._descriptor, b"".join(pending.members))
        os.fsync(self._descriptor)
        if self._new:
            sync_directory(self._folder)
            self._new = False

    def close(self) -> None:
        """Close the file; records that were not synced are lost."""
        os.close(self._descriptor)

    def _add(self, record: bytes) -> int:
        level = _SMALL_COMPRESSION if len(record) < _SMALL else _COMPRESSION
        member = isal_zlib.compress(record, level, _GZIP)
        self._buffer.append(member)
        self.size += len(member)
        return len(member)


def _open(path: Path, *, new: bool) -> int:
    try:
        with reporting_full_disk(path.parent):
            return os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if new else 0), 0o644)
    except OSError as error:
        raise DamagedFile(f"{path} cannot be opened", error.strerror or str(error)) from error


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def archive_name(worker: int, number: int, revision: int = 0) -> str:
    """Return the name of a worker's n-th archive file, for example `w00-000001` and the suffix.

    *revision*: how often `periplus prune` has replaced the file.
    """
    return f"w{worker:02d}-{number:06d}{f'-r{revision}' if revision else ''}{SUFFIX}"


IMPORTS = 99  # the worker number of imported pages; no crawl has that many workers


def parse_archive_name(name: str) -> tuple[int, int]:
    """Return worker and number from the name of an archive file; (-1, 0) for any other name."""
    found = _NAME.fullmatch(name)
    return (int(found[1]), int(found[2])) if found else (-1, 0)


def archive_revision(name: str) -> int:
    """Return the revision in the name of an archive file."""
    found = _NAME.fullmatch(name)
    return int(found[3] or 0) if found else 0


def read_response(folder: Path, position: ArchivePosition) -> Response:
    """Read the response at *position*."""
    with _first_record(folder, position, WarcRecordType.response) as record:
        return _response(record)


def response_of(member: bytes, position: ArchivePosition) -> Response:
    """Parse the response of a record whose bytes were read elsewhere."""
    with _record_of(member, position.name, position, WarcRecordType.response) as record:
        return _response(record)


def read_at(folder: Path, position: ArchivePosition) -> Record:
    """Read the response or revisit record at *position*."""
    with _first_record(folder, position, WarcRecordType.response | WarcRecordType.revisit) as record:
        return read_record(record, position)


@contextmanager
def _first_record(folder: Path, position: ArchivePosition, kinds: WarcRecordType) -> Iterator[WarcRecord]:
    """Read one record; errors in the block, too, mean that it is damaged."""
    path = folder / position.name
    try:
        with path.open("rb") as handle:
            member = os.pread(handle.fileno(), position.length, position.offset)
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read", error.strerror or str(error)) from error
    with _record_of(member, path, position, kinds) as record:
        yield record


@contextmanager
def _record_of(
    member: bytes, path: Path | str, position: ArchivePosition, kinds: WarcRecordType
) -> Iterator[WarcRecord]:
    """Parse one record; errors in the block, too, mean that it is damaged."""
    try:
        # Decompressed as a whole: only the checksum at the end of a gzip member proves that it is complete.
        content = io.BytesIO(zlib.decompress(member, _GZIP))
        yield next(iter(ArchiveIterator(content, record_types=kinds)))
    except (StopIteration, OSError, ValueError, zlib.error) as error:
        raise DamagedFile(f"{path} is damaged", f"no readable response at offset {position.offset}") from error


class Record(NamedTuple):
    """One response or revisit record of the archive."""

    position: ArchivePosition
    response: Response
    is_sound: bool  # the payload matches its digest; always true for a revisit, which has no payload
    revisits: bytes = b""  # SHA-256 of the payload that a revisit refers to; empty for a response


def responses(folder: Path, name: str, start: int, end: int) -> Iterator[Record]:
    """Read every response and revisit record of a file between two offsets."""
    path = folder / name
    with path.open("rb") as handle:
        if os.fstat(handle.fileno()).st_size < end:
            raise DamagedFile(f"{path} is shorter than its acknowledged size", f"expected at least {end} bytes")
        handle.seek(start)
        previous: Record | None = None
        for record in ArchiveIterator(_Window(handle, end - start), record_types=WarcRecordType.any_type):
            at = start + record.stream_pos
            if previous is not None:
                yield _with_end(previous, at)
                previous = None
            if record.record_type in (WarcRecordType.response, WarcRecordType.revisit):
                previous = read_record(record, ArchivePosition(name, at, 0))
        if previous is not None:
            yield _with_end(previous, end)


def _with_end(record: Record, end: int) -> Record:
    """Set the length of a record, which ends where the next one begins."""
    return record._replace(position=record.position._replace(length=end - record.position.offset))


class _Window(io.RawIOBase):
    """The next *size* bytes of a file, presented as a whole file."""

    def __init__(self, handle: io.BufferedReader, size: int) -> None:
        self._handle, self._left, self._at = handle, size, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        wanted = self._left if size is None or size < 0 else min(size, self._left)
        data = self._handle.read(wanted)
        self._left -= len(data)
        self._at += len(data)
        return data

    def tell(self) -> int:
        return self._at


def read_record(record: WarcRecord, position: ArchivePosition) -> Record:
    """Convert a response or revisit record as `fastwarc` returns it."""
    response = _response(record)
    stated = (record.headers.get("WARC-Payload-Digest") or "").partition(":")[2]
    if record.record_type == WarcRecordType.revisit:
        return Record(position, response, True, base64.b32decode(stated))
    return Record(position, response, stated == base64.b32encode(hashlib.sha256(response.body).digest()).decode())


def _response(record: WarcRecord) -> Response:
    fields = record.http_headers
    if fields is None:
        raise ValueError(f"the record {record.record_id} is not an HTTP response")
    body = record.reader.read()
    status_line = fields.status_line_bytes or b""
    pairs = list(fields.items_bytes())
    lines = b"".join(b"%b: %b\r\n" % pair for pair in pairs)
    headers: dict[str, str] = {}
    for name, value in pairs:
        add_header(headers, name.decode("latin-1").strip().lower(), value.decode("latin-1").strip())
    return Response(
        url=record.headers["WARC-Target-URI"],
        fetched_at=record.record_date.timestamp(),
        status=fields.status_code or 0,
        head=status_line + b"\r\n" + lines,
        headers=headers,
        body=body,
        truncated="WARC-Truncated" in record.headers,
        ip=record.headers.get("WARC-IP-Address") or "",
    )

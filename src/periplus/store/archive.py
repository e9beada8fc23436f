"""How are raw documents kept, so that any WARC tool can read them and one can be found by its offset?

WARC 1.1, one gzip member a record. A response is preceded by the request that asked for it. Bodies are stored decoded:
headers that described the transfer get the prefix ``X-Crawler-``, as in Common Crawl's files, so that the block stays a
valid HTTP message. A body that is the same as the last time is not stored again: a *revisit* record refers to it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fastwarc import ArchiveIterator, WarcRecord, WarcRecordType
from isal import isal_zlib

from periplus.errors import DamagedFile
from periplus.model import ArchivePosition, Fetch, Response, add_header
from periplus.store.durable import reporting_full_disk, sync_directory
from periplus.store.warc import NOT_MODIFIED, exchange, warcinfo

SUFFIX = ".warc.gz"
_COMPRESSION = 1  # measured: four times as fast as zlib's; level 2 makes it 1 % smaller, and costs a crawl 3 %
_SMALL, _SMALL_COMPRESSION = 1024, 0  # a request record is not worth the set-up of a better level
_GZIP = 31  # zlib's window bits that mean "with a gzip header"
_READABLE = WarcRecordType.response


class Archived(NamedTuple):
    """A response that lies in the archive: where, and what its payload is."""

    position: ArchivePosition
    content_id: bytes
    is_revisit: bool = False  # it is the same as the last time, and only that is recorded


@dataclass(frozen=True, slots=True)
class Pending:
    """Records not yet written, and the size of the file once they are."""

    members: list[bytes]
    size: int


class ArchiveWriter:
    """Appends responses to one WARC file; nothing is durable before `sync` has returned from the cut that holds it."""

    def __init__(self, folder: Path, name: str, size: int) -> None:
        """Continue *name* at *size* bytes, cutting off what was written but never acknowledged; 0 makes it new."""
        self.name = name
        self._folder = folder
        path = folder / name
        self._descriptor = _open(path, new=size == 0)
        self._buffer: list[bytes] = []
        self.size = size
        if os.fstat(self._descriptor).st_size < size:
            os.close(self._descriptor)
            raise DamagedFile(f"{path} is shorter than acknowledged", f"expected at least {size} bytes")
        os.ftruncate(self._descriptor, size)
        os.lseek(self._descriptor, size, os.SEEK_SET)
        self._new = size == 0
        if self._new:
            self._add(warcinfo(name))

    def append(self, response: Response, earlier: Fetch | None = None) -> Archived:
        """Queue a request and its response; returns where the response will lie.

        *earlier* is the last version of the same page: if it is still the same, only that is recorded.
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

    def cut(self) -> Pending:
        """What was appended since the last cut; another thread may write it with `sync` while appending goes on."""
        pending = Pending(self._buffer, self.size)
        self._buffer = []
        return pending

    def sync(self, pending: Pending) -> None:
        """Make a cut durable."""
        _write_all(self._descriptor, b"".join(pending.members))
        os.fsync(self._descriptor)
        if self._new:
            sync_directory(self._folder)
            self._new = False

    def close(self) -> None:
        """Let go of the file; what was not synced is lost."""
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


def archive_name(worker: int, number: int) -> str:
    """The name of a worker's n-th archive file."""
    return f"w{worker:02d}-{number:06d}{SUFFIX}"


IMPORTS = 99  # the worker whose files hold imported pages; no crawl has so many


def numbered(name: str) -> tuple[int, int]:
    """The worker and the number behind the name of an archive file; (-1, 0) when none of ours has such a name."""
    found = re.fullmatch(rf"w(\d{{2,}})-(\d{{6,}}){re.escape(SUFFIX)}", name)
    return (int(found[1]), int(found[2])) if found else (-1, 0)


def read_response(folder: Path, position: ArchivePosition) -> Response:
    """The one response at *position*."""
    path = folder / position.name
    try:
        with path.open("rb") as handle:
            member = os.pread(handle.fileno(), position.length, position.offset)
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read", error.strerror or str(error)) from error
    try:
        # Unpacked as a whole, because only the end of a member proves that nothing is missing.
        content = io.BytesIO(zlib.decompress(member, _GZIP))
        return _response(next(iter(ArchiveIterator(content, record_types=_READABLE))))
    except (StopIteration, OSError, ValueError, zlib.error) as error:
        raise DamagedFile(f"{path} is damaged", f"no readable response at offset {position.offset}") from error


class Record(NamedTuple):
    """One answer in the archive."""

    position: ArchivePosition
    response: Response
    is_sound: bool  # its payload is what its digest says; of a revisit, nothing can be said
    revisits: bytes = b""  # SHA-256 of the payload that it only refers to; empty when it holds one itself


def responses(folder: Path, name: str, start: int, end: int) -> Iterator[Record]:
    """Every answer of a file between two offsets."""
    path = folder / name
    with path.open("rb") as handle:
        if os.fstat(handle.fileno()).st_size < end:
            raise DamagedFile(f"{path} is shorter than acknowledged", f"expected at least {end} bytes")
        handle.seek(start)
        previous: Record | None = None
        for record in ArchiveIterator(_Window(handle, end - start), record_types=WarcRecordType.any_type):
            at = start + record.stream_pos
            if previous is not None:
                yield _ended(previous, at)
                previous = None
            if record.record_type in (WarcRecordType.response, WarcRecordType.revisit):
                previous = _read(record, ArchivePosition(name, at, 0))
        if previous is not None:
            yield _ended(previous, end)


def _ended(record: Record, end: int) -> Record:
    """A record is as long as it is until the next one begins."""
    return record._replace(position=record.position._replace(length=end - record.position.offset))


class _Window(io.RawIOBase):
    """The next *size* bytes of a file, as if the file ended there."""

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


def _read(record: WarcRecord, position: ArchivePosition) -> Record:
    response = _response(record)
    stated = (record.headers.get("WARC-Payload-Digest") or "").partition(":")[2]
    if record.record_type == WarcRecordType.revisit:
        return Record(position, response, True, base64.b32decode(stated))
    return Record(position, response, stated == base64.b32encode(hashlib.sha256(response.body).digest()).decode())


def _response(record: WarcRecord) -> Response:
    fields = record.http_headers
    if fields is None:
        raise ValueError(f"the record {record.record_id} holds no HTTP response")
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

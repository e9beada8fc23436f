"""What do archives hold that other programs wrote?

WARC of any version and ARC, compressed record by record, as a whole, or not at all. Programs write records that are
wrong in many ways: a length that is none, a body cut off, a transfer encoding that was undone long ago. A record that
cannot be read is named and passed over, and reading goes on at the next line that begins one.

How is a file read that may be compressed, and damaged anywhere?

As one stream of bytes. Where a compressed file is damaged, reading goes on with its next member; how often that
happened is counted, so that whoever reads a record across such a place knows that it is not whole.

What does an HTTP message say that somebody archived as it was sent, or nearly so?

The head is read line by line. The body is unchunked and unpacked where it can be: archives hold bodies whose headers
describe a transfer that was undone already, so an encoding that does not fit is taken for one that is gone.
"""

from __future__ import annotations

import io
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from fastwarc.stream_io import BrotliReader, GzipReader, WarcReader, ZstdReader

from periplus.model import Response, add_header

_MAGIC = b"\x1f\x8b\x08"
_CHUNK = 1 << 16
_UNPACKED_AT_ONCE = 1 << 20
_GZIP = 31  # zlib's window bits that mean "with a gzip header"


class CompressedFile:
    """The bytes of a file, unpacked if it begins like gzip."""

    def __init__(self, path: Path) -> None:
        self._handle: BinaryIO = path.open("rb")
        packed = self._handle.read(len(_MAGIC)) == _MAGIC
        self._handle.seek(0)
        self._chunks = self._unpacked() if packed else self._plain()
        self._buffer = bytearray()
        self._start = 0  # of what is left in the buffer
        self.position = 0  # of the next byte, unpacked
        self.damages = 0  # places passed where the file is damaged

    def __enter__(self) -> CompressedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._handle.close()

    def line(self, limit: int) -> bytes:
        """The next line with its end, or as much of it as *limit* allows; nothing at the end of the file."""
        while True:
            end = self._buffer.find(b"\n", self._start, self._start + limit) + 1
            if end:
                return self._take(end - self._start)
            if len(self._buffer) - self._start >= limit or not self._fill():
                return self._take(min(limit, len(self._buffer) - self._start))

    def read(self, size: int) -> bytes:
        """The next *size* bytes; fewer at the end of the file."""
        while len(self._buffer) - self._start < size and self._fill():
            pass
        return self._take(min(size, len(self._buffer) - self._start))

    def skip(self, size: int) -> int:
        """Pass over *size* bytes without holding them; returns how many there were."""
        left = size
        while left and (passed := len(self.read(min(left, _UNPACKED_AT_ONCE)))):
            left -= passed
        return size - left

    def _take(self, size: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[self._start : self._start + size])
        self._start += size
        self.position += size
        if self._start == len(self._buffer):
            self._buffer.clear()
            self._start = 0
        return taken

    def _fill(self) -> bool:
        chunk = next(self._chunks, b"")
        if self._start > _UNPACKED_AT_ONCE:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += chunk
        return bool(chunk)

    def _plain(self) -> Iterator[bytes]:
        return iter(lambda: self._handle.read(_CHUNK), b"")

    def _unpacked(self) -> Iterator[bytes]:
        packed = b""
        while packed := packed or self._handle.read(_CHUNK):
            member = _Member()
            with suppress(zlib.error):
                yield from member.content(packed, self._handle)
            if member.is_whole:
                packed = member.rest.lstrip(b"\0")  # some programs fill up with zeros
            else:
                self.damages += 1
                yield b"\n"  # what follows is on a line of its own
                packed = self._next_member(member.rest[1:])

    def _next_member(self, packed: bytes) -> bytes:
        """What follows from the next place on that looks like the beginning of a member."""
        while (found := packed.find(_MAGIC)) < 0:
            more = self._handle.read(_CHUNK)
            if not more:
                return b""
            packed = packed[-len(_MAGIC) :] + more
        return packed[found:]


class _Member:
    """One member of a compressed file."""

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_GZIP)
        self.rest = b""  # what was read but does not belong to it, as far as is known

    @property
    def is_whole(self) -> bool:
        """Whether its end was reached, and its checksum right."""
        return self._reader.eof

    def content(self, packed: bytes, handle: BinaryIO) -> Iterator[bytes]:
        """What it holds; it begins with *packed* and goes on in the file."""
        self.rest = packed
        while self.rest:
            unpacked = self._reader.decompress(self.rest, _UNPACKED_AT_ONCE)
            if unpacked:
                yield unpacked
            if self._reader.eof:
                self.rest = self._reader.unused_data
                return
            self.rest = self._reader.unconsumed_tail or handle.read(_CHUNK)


LONGEST = 64 << 20  # bytes of a record that are read
_LONGEST_LINE = 1 << 16
_MOST_LINES = 1_000  # of a head
_FIRST, _PAST_LAST = -62_135_596_800.0, 253_402_300_800.0  # seconds since the epoch: the years 1 to 9999 in UTC
_LIKE_A_DATE = re.compile(r"\d{4,}-\d\d-\d\d")
_WARC = re.compile(rb"WARC/\d[\d.]*\s*")
_ARC = re.compile(
    rb"(?P<url>\S.*) (?P<ip>\S+) (?P<date>\d{14})\d* (?P<mime>\S+)(?: \S+ \S+ \S+ \d+ \S+)? (?P<length>\d+)\s*"
)


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One record as it was found."""

    kind: str  # as WARC calls it: response, resource, revisit ...
    url: str
    at: float  # seconds since the epoch; of the file, when the record names a date that is not in the calendar
    mime: str  # of the block
    block: bytes
    position: int  # in the unpacked file
    ip: str = ""
    truncated: bool = False  # something of the block is missing, as it says itself
    redated: bool = False  # `at` is not from the record


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A place of a file where no record can be read, and why."""

    position: int
    why: str


def read_records(path: Path) -> Iterator[WarcRecord | BrokenRecord]:
    """Every record of a file, in order; raises OSError when the file cannot be read at all."""
    with CompressedFile(path) as source:
        otherwise = path.stat().st_mtime
        lost = -1  # where lines began that belong to no record
        while line := source.line(_LONGEST_LINE):
            at, damages = source.position - len(line), source.damages
            arc = None if _WARC.fullmatch(line) else _ARC.fullmatch(line)
            if arc is None and not _WARC.fullmatch(line):
                lost = at if lost < 0 and line.strip() else lost
                continue
            if lost >= 0:
                yield BrokenRecord(lost, "no record begins here")
                lost = -1
            record = _warc_record(source, at) if arc is None else _arc_record(source, at, arc)
            if isinstance(record, WarcRecord) and not _FIRST <= record.at < _PAST_LAST:
                record = replace(record, at=otherwise, redated=True)
            if source.damages > damages:
                record = BrokenRecord(at, "the file is damaged in this record")
            yield record
        if lost >= 0:
            yield BrokenRecord(lost, "no record begins here")


def _warc_record(source: CompressedFile, at: int) -> WarcRecord | BrokenRecord:
    fields: dict[str, str] = {}
    for _ in range(_MOST_LINES):
        line = source.line(_LONGEST_LINE)
        if not line.strip():
            break
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return BrokenRecord(at, "it does not say how long it is")
    moment = _warc_date(fields.get("warc-date", ""))
    block, whole = _block(source, int(length))
    if not whole:
        return BrokenRecord(at, "the file ends before it does")
    if moment is None:
        return BrokenRecord(at, "it does not say when it was made")
    return WarcRecord(
        kind=fields.get("warc-type", "").lower(),
        url=fields.get("warc-target-uri", "").strip("<>"),  # some programs take the brackets of the standard literally
        at=moment,
        mime=fields.get("content-type", ""),
        block=block,
        position=at,
        ip=fields.get("warc-ip-address", ""),
        truncated="warc-truncated" in fields or int(length) > LONGEST,
    )


def _arc_record(source: CompressedFile, at: int, line: re.Match[bytes]) -> WarcRecord | BrokenRecord:
    block, whole = _block(source, int(line["length"]))
    moment = _digits(line["date"].decode())
    if not whole:
        return BrokenRecord(at, "the file ends before it does")
    is_http = line["url"].lower().startswith(b"http") and block[:5].upper() == b"HTTP/"
    return WarcRecord(
        kind="warcinfo" if line["url"].startswith(b"filedesc:") else "response" if is_http else "resource",
        url=line["url"].decode("utf-8", "replace"),
        at=math.inf if moment is None else moment,
        mime="application/http" if is_http else line["mime"].decode("latin-1"),
        block=block,
        position=at,
        ip=line["ip"].decode("latin-1"),
        truncated=int(line["length"]) > LONGEST,
    )


def _block(source: CompressedFile, length: int) -> tuple[bytes, bool]:
    """A block as far as it is read, and whether the file holds all of it."""
    block = source.read(min(length, LONGEST))
    return block, len(block) + source.skip(length - len(block)) == length if len(block) else length == 0


def _warc_date(text: str) -> float | None:
    """A date in seconds since the epoch; infinity: it is not in the calendar; None: it is no date."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        found = _digits(re.sub(r"\D", "", text)[:14])
        return math.inf if found is None and _LIKE_A_DATE.match(text) else found


def _digits(text: str) -> float | None:
    if len(text) != len("20240517093000"):
        return None
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


_STATUS = re.compile(rb"HTTP/[\d.]+\s+(\d{3})\b", re.IGNORECASE)
_HEAD_END = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"[\r\0]*\n(?![ \t])")  # a line that begins with a blank goes on
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:")
_LONGEST_HEAD = 1 << 17
_AT_ONCE = 1 << 16
_CHUNK_SIZE_LINE = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,100}\r?\n")
_READERS: dict[str, Callable[[io.BytesIO], WarcReader]] = {
    "gzip": GzipReader,
    "x-gzip": GzipReader,
    "deflate": lambda packed: GzipReader(packed, zlib=True),
    "br": BrotliReader,
    "zstd": ZstdReader,
}


def response_of(record: WarcRecord, largest: int) -> Response | None:
    """The answer that a record holds, its body up to *largest* bytes; None when it holds none."""
    if record.kind == "response":
        return _answer(record, largest)
    if record.kind in {"resource", "conversion"}:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {record.mime}\r\n".encode("latin-1", "replace")
        return _response(record, 200, head, record.block, largest)
    return None


def _answer(record: WarcRecord, largest: int) -> Response | None:
    status = _STATUS.match(record.block)
    end = _HEAD_END.search(record.block, 0, _LONGEST_HEAD)
    if status is None:
        return None
    head = record.block[: end.start()] if end else record.block[:_LONGEST_HEAD]
    body = record.block[end.end() :] if end else b""
    return _response(record, int(status[1]), _tidied(head), body, largest)


def _tidied(head: bytes) -> bytes:
    """A head in the form of the standard, without lines that are no headers."""
    status_line, *lines = [b" ".join(line.split()) for line in _LINE_END.split(head)]
    return b"".join(line + b"\r\n" for line in (status_line, *filter(_HEADER.match, lines)))


def _response(record: WarcRecord, status: int, head: bytes, body: bytes, largest: int) -> Response:
    headers: dict[str, str] = {}
    for line in head.split(b"\r\n")[1:]:
        name, colon, value = line.decode("latin-1").partition(":")
        if colon:
            add_header(headers, name.strip().lower(), value.strip())
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _unchunked(body)
    for encoding in reversed(headers.get("content-encoding", "").lower().split(",")):
        body = _unpacked(body, encoding.strip(), largest)
    return Response(
        url=record.url,
        fetched_at=record.at,
        status=status,
        head=head,
        headers=headers,
        body=body[:largest],
        truncated=record.truncated or len(body) > largest,
        ip=record.ip,
    )


def _unchunked(body: bytes) -> bytes:
    """The content of the chunks; the body as it is, when it does not begin like one."""
    parts, position = [], 0
    while size := _CHUNK_SIZE_LINE.match(body, position):
        length = int(size[1], 16)
        parts.append(body[size.end() : size.end() + length])
        position = size.end() + length
        position += 2 if body[position : position + 2] == b"\r\n" else body[position : position + 1] == b"\n"
        if not length:
            break
    return b"".join(parts) if position else body


def _unpacked(body: bytes, encoding: str, largest: int) -> bytes:
    """The content of a packed body, one byte past *largest* at most; the body as it is, when it is not packed so."""
    if encoding not in _READERS or not body:
        return body
    reader, unpacked = _READERS[encoding](io.BytesIO(body)), bytearray()
    with suppress(OSError, ValueError):  # a body that is cut off is worth what came before
        while len(unpacked) <= largest and (part := reader.read(min(_AT_ONCE, largest + 1 - len(unpacked)))):
            unpacked += part
    return bytes(unpacked) or body

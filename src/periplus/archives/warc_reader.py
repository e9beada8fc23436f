"""Reads WARC and ARC files that other programs wrote, even when they are damaged.

`CompressedFile` reads a plain or gzip file as one stream. At a damaged place it continues with the next gzip member and
counts the damage, so that a record across that place is reported as broken.

`read_records` accepts WARC of any version and ARC, compressed by record, as a whole, or not at all. Programs write
invalid lengths and truncate bodies. A broken record is reported and skipped; reading continues at the next line that
starts a record. A record without a readable date gets a fallback date (`record_date`).

`response_of` parses the HTTP message of a record. It repairs a broken status line. It removes chunking and content
encoding where they match the body: many archives hold decoded bodies with the original headers.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from fastwarc.stream_io import BrotliReader, GzipReader, WarcReader, ZstdReader

from periplus.archives.record_date import FallbackDates, RecordDate, parse_date
from periplus.model import Response, add_header

_MAGIC = b"\x1f\x8b\x08"
_CHUNK = 1 << 16
_UNPACKED_AT_ONCE = 1 << 20
_GZIP = 31  # zlib's window bits that mean "with a gzip header"
_UNSUPPORTED = {
    b"\x04\x22\x4d\x18": "LZ4",
    b"\x02\x21\x4c\x18": "LZ4",
    b"\xfd7zXZ\0": "XZ",
    b"BZh": "bzip2",
    b"PK\x03\x04": "ZIP (as WACZ files are)",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x5d\x2a\x4d\x18": "Zstandard",  # with a dictionary before the first frame
}
_LONGEST_MAGIC = max(map(len, _UNSUPPORTED))


class CompressedFile:
    """The bytes of a file, decompressed if it starts with the gzip magic number."""

    def __init__(self, path: Path) -> None:
        self._handle: BinaryIO = path.open("rb")
        start = self._handle.read(_LONGEST_MAGIC)
        self._handle.seek(0)
        self._chunks = self._unpacked() if start.startswith(_MAGIC) else self._plain()
        self._buffer = bytearray()
        self._start = 0  # of the unread bytes in the buffer
        self.position = 0  # of the next byte in the decompressed stream
        self.damages = 0  # damaged places so far
        for magic, name in _UNSUPPORTED.items():
            if start.startswith(magic):
                self._handle.close()
                raise OSError(f"compressed with {name}, which import cannot read: decompress the file first")

    def __enter__(self) -> CompressedFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._handle.close()

    def line(self, limit: int) -> bytes:
        """The next line with its line end, at most *limit* bytes; empty at the end of the file."""
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
        """Skip *size* bytes in steps of bounded memory; returns the number of bytes skipped."""
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
                packed = member.rest.lstrip(b"\0")  # some programs pad with zeros
            else:
                self.damages += 1
                yield b"\n"  # so that the next member starts a new line
                packed = self._next_member(member.rest[1:])

    def _next_member(self, packed: bytes) -> bytes:
        """The data from the next gzip magic number on."""
        while (found := packed.find(_MAGIC)) < 0:
            more = self._handle.read(_CHUNK)
            if not more:
                return b""
            packed = packed[-len(_MAGIC) :] + more
        return packed[found:]


class _Member:
    """One gzip member."""

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_GZIP)
        self.rest = b""  # data read from the file and not yet decompressed

    @property
    def is_whole(self) -> bool:
        """Whether the member is complete and its checksum is right."""
        return self._reader.eof

    def content(self, packed: bytes, handle: BinaryIO) -> Iterator[bytes]:
        """Decompress the member, which starts with *packed* and continues in the file."""
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
_MOST_LINES = 1_000  # of a record header
_WARC = re.compile(rb"WARC/\d[\d.]*\s*")
_ARC = re.compile(
    rb"(?P<url>\S.*) (?P<ip>\S+) (?P<date>\d{8,}) (?P<mime>\S+)(?: \S+ \S+ \S+ \d+ \S+)? (?P<length>\d+)\s*"
)


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """One record of a WARC or ARC file."""

    kind: str  # the WARC-Type: response, resource, revisit ...
    url: str
    at: float  # seconds since the epoch
    mime: str  # of the block
    block: bytes
    position: int  # in the decompressed file
    ip: str = ""
    truncated: bool = False  # by the record's own header, or because it is too long
    date_source: str = ""  # of a fallback date; empty: the record states its date


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A position where no record can be read, and the reason."""

    position: int
    why: str


def read_records(path: Path) -> Iterator[WarcRecord | BrokenRecord]:
    """Read every record of a file, in order; raises OSError when the file cannot be opened or read."""
    with CompressedFile(path) as source:
        dates = FallbackDates(path.stat().st_mtime)
        lost = -1  # the position of the first line outside any record
        while line := source.line(_LONGEST_LINE):
            at, damages = source.position - len(line), source.damages
            arc = None if _WARC.fullmatch(line) else _ARC.fullmatch(line)
            if arc is None and not _WARC.fullmatch(line):
                lost = at if lost < 0 and line.strip() else lost
                continue
            if lost >= 0:
                yield BrokenRecord(lost, "no record starts here")
                lost = -1
            record = _warc_record(source, at, dates) if arc is None else _arc_record(source, at, arc, dates)
            if source.damages > damages:
                record = BrokenRecord(at, "the compressed data is damaged")
            yield record
        if lost >= 0:
            yield BrokenRecord(lost, "no record starts here")


def _warc_record(source: CompressedFile, at: int, dates: FallbackDates) -> WarcRecord | BrokenRecord:
    fields: dict[str, str] = {}
    for _ in range(_MOST_LINES):
        line = source.line(_LONGEST_LINE)
        if not line.strip():
            break
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return BrokenRecord(at, "no valid Content-Length")
    block, whole = _block(source, int(length))
    if not whole:
        return BrokenRecord(at, "the file ends inside the record")
    date = _date_of(fields.get("warc-date", ""), block, dates)
    return WarcRecord(
        kind=fields.get("warc-type", "").lower(),
        url=fields.get("warc-target-uri", "").strip("<>"),  # some programs copy the brackets of the standard's grammar
        at=date.at,
        mime=fields.get("content-type", ""),
        block=block,
        position=at,
        ip=fields.get("warc-ip-address", ""),
        truncated="warc-truncated" in fields or int(length) > LONGEST,
        date_source=date.source,
    )


def _arc_record(
    source: CompressedFile, at: int, line: re.Match[bytes], dates: FallbackDates
) -> WarcRecord | BrokenRecord:
    block, whole = _block(source, int(line["length"]))
    if not whole:
        return BrokenRecord(at, "the file ends inside the record")
    date = _date_of(line["date"].decode(), block, dates)
    is_http = line["url"].lower().startswith(b"http") and block[:5].upper() == b"HTTP/"
    return WarcRecord(
        kind="warcinfo" if line["url"].startswith(b"filedesc:") else "response" if is_http else "resource",
        url=line["url"].decode("utf-8", "replace"),
        at=date.at,
        mime="application/http" if is_http else line["mime"].decode("latin-1"),
        block=block,
        position=at,
        ip=line["ip"].decode("latin-1"),
        truncated=int(line["length"]) > LONGEST,
        date_source=date.source,
    )


def _date_of(text: str, block: bytes, dates: FallbackDates) -> RecordDate:
    """The date of a record as its header states it, or a fallback."""
    stated = parse_date(text)
    if stated is None:
        return dates.find(_parts(block)[0] if _STATUS.match(block) else b"")
    dates.use(stated)
    return stated


def _block(source: CompressedFile, length: int) -> tuple[bytes, bool]:
    """The block up to the size limit, and whether the file holds all of it."""
    block = source.read(min(length, LONGEST))
    return block, len(block) + source.skip(length - len(block)) == length if len(block) else length == 0


DATE_SOURCE = "X-Crawler-Date-Source"  # the header that marks a response with a fallback date
# Real files have "HTTP/1.1 HTTP/1.1 200 OK", "HTTP/1.1200 OK" and "200 OK"; the last one only counts before a header.
_STATUS = re.compile(
    rb"\s{0,100}(?:(?:HTTP(?:/[\d.]*\s+|/\d\.\d|\s+)){1,4}(?P<code>\d{3})(?!\d)"
    rb"|(?P<bare>\d{3})(?=[ \t][^\r\n]{0,100}\r?\n[\w-]{1,100}:))",
    re.IGNORECASE,
)
_VALID_STATUS = re.compile(rb"HTTP/\d[\d.]* \d{3}(?: |$)")
_HEAD_END = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"[\r\0]*\n(?![ \t])")  # a line that starts with a blank continues the previous one
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
    """The HTTP response of a record, with a body of at most *largest* bytes; None if it has none."""
    if record.kind == "response":
        return _parse_http(record, largest)
    if record.kind in {"resource", "conversion"}:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {record.mime}\r\n".encode("latin-1", "replace")
        return _response(record, 200, head, record.block, largest)
    return None


def _parse_http(record: WarcRecord, largest: int) -> Response | None:
    status = _STATUS.match(record.block)
    if status is None:
        return None
    head, body = _parts(record.block)
    code = status["code"] or status["bare"]
    return _response(record, int(code), _normalised(head, code), body, largest)


def _parts(block: bytes) -> tuple[bytes, bytes]:
    """Head and body of an HTTP message."""
    block = block.lstrip()
    end = _HEAD_END.search(block, 0, _LONGEST_HEAD)
    return (block[: end.start()], block[end.end() :]) if end else (block[:_LONGEST_HEAD], b"")


def _normalised(head: bytes, code: bytes) -> bytes:
    """The head with a valid status line, CRLF line ends and unfolded headers, without invalid lines."""
    status_line, *lines = [b" ".join(line.split()) for line in _LINE_END.split(head)]
    if not _VALID_STATUS.match(status_line):
        reason = status_line.partition(code)[2]
        status_line = b" ".join([b"HTTP/1.1", code, *reason.split()])
    return b"".join(line + b"\r\n" for line in (status_line, *filter(_HEADER.match, lines)))


def _response(record: WarcRecord, status: int, head: bytes, body: bytes, largest: int) -> Response:
    if record.date_source:
        head += f"{DATE_SOURCE}: {record.date_source}\r\n".encode()
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
    """The body without chunked encoding; unchanged if it is not chunked."""
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
    """The decompressed body, at most *largest* + 1 bytes; unchanged if it does not have this encoding."""
    if encoding not in _READERS or not body:
        return body
    reader, unpacked = _READERS[encoding](io.BytesIO(body)), bytearray()
    with suppress(OSError, ValueError):  # keeps the part before a truncated end
        while len(unpacked) <= largest and (part := reader.read(min(_AT_ONCE, largest + 1 - len(unpacked)))):
            unpacked += part
    return bytes(unpacked) or body

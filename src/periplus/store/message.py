"""What does an HTTP message say that somebody archived as it was sent, or nearly so?

The head is read line by line. The body is unchunked and unpacked where it can be: archives hold bodies whose headers
describe a transfer that was undone already, so an encoding that does not fit is taken for one that is gone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import suppress

from fastwarc.stream_io import BrotliReader, GzipReader, WarcReader, ZstdReader

from periplus.archives.warc_reader import ForeignRecord
from periplus.model import Response, add_header

_STATUS = re.compile(rb"HTTP/[\d.]+\s+(\d{3})\b", re.IGNORECASE)
_HEAD_END = re.compile(rb"\n\r?\n")
_LINE_END = re.compile(rb"[\r\0]*\n(?![ \t])")  # a line that begins with a blank goes on
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\s*:")
_LONGEST_HEAD = 1 << 17
_AT_ONCE = 1 << 16
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[^\r\n]{0,100}\r?\n")
_READERS: dict[str, Callable[[io.BytesIO], WarcReader]] = {
    "gzip": GzipReader,
    "x-gzip": GzipReader,
    "deflate": lambda packed: GzipReader(packed, zlib=True),
    "br": BrotliReader,
    "zstd": ZstdReader,
}


def response_of(record: ForeignRecord, largest: int) -> Response | None:
    """The answer that a record holds, its body up to *largest* bytes; None when it holds none."""
    if record.kind == "response":
        return _answer(record, largest)
    if record.kind in {"resource", "conversion"}:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {record.mime}\r\n".encode("latin-1", "replace")
        return _response(record, 200, head, record.block, largest)
    return None


def _answer(record: ForeignRecord, largest: int) -> Response | None:
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


def _response(record: ForeignRecord, status: int, head: bytes, body: bytes, largest: int) -> Response:
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
    while size := _CHUNK.match(body, position):
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

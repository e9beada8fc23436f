"""Builds WARC records."""

from __future__ import annotations

import re
from base64 import b32encode
from datetime import UTC, datetime
from functools import lru_cache
from os import urandom

from periplus import __version__
from periplus.model import Fetch, Response

NOT_MODIFIED = 304
_LONGEST_HEAD = 30_000  # bytes of headers; some tools fail on a file with more than 32 KiB
_TRANSFER_HEADER = re.compile(
    rb"^(content-encoding|content-length|transfer-encoding)(?=\s*:)", re.IGNORECASE | re.MULTILINE
)


def exchange(response: Response, content_id: bytes, earlier: Fetch | None, profile: str) -> tuple[bytes, bytes]:
    """Build the records of a request and its response; with *earlier* the response is a revisit record."""
    date = _warc_date(response.fetched_at)
    random_digits = urandom(32).hex()
    response_id, request_id = _record_id(random_digits[:32]), _record_id(random_digits[32:])
    common = f"WARC-Date: {date}\r\nWARC-Target-URI: {response.url}\r\n"
    if response.ip:
        common += f"WARC-IP-Address: {response.ip}\r\n"
    digest = b32encode(content_id).decode()
    request_head = f"{common}WARC-Concurrent-To: {response_id}\r\nContent-Type: application/http;msgtype=request\r\n"
    head = (
        f"{common}WARC-Payload-Digest: sha256:{digest}\r\n"
        f"{'WARC-Truncated: length' + chr(13) + chr(10) if response.truncated else ''}"
        "Content-Type: application/http;msgtype=response\r\n"
    )
    stored = _stored_head(response)
    if earlier is None:
        answer = _record("response", response_id, head, stored, b"\r\n", response.body)
    else:
        answer = _record("revisit", response_id, f"{head}{_reference(earlier, profile)}", stored, b"\r\n")
    return _record("request", request_id, request_head, response.request), answer


def _reference(earlier: Fetch, profile: str) -> str:
    """The headers by which a revisit record refers to the earlier record."""
    return (
        f"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/{profile}\r\n"
        f"WARC-Refers-To-Target-URI: {earlier.url}\r\n"
        f"WARC-Refers-To-Date: {_warc_date(earlier.at)}\r\n"
    )


def _record(kind: str, record_id: str, head: str, *block: bytes) -> bytes:
    length = sum(map(len, block))
    start = f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{head}Content-Length: {length}\r\n\r\n"
    return b"".join([start.encode(), *block, b"\r\n\r\n"])


def warcinfo(name: str) -> bytes:
    """Build the first record of a file."""
    now = _warc_date(datetime.now(UTC).timestamp())
    head = f"WARC-Date: {now}\r\nWARC-Filename: {name}\r\nContent-Type: application/warc-fields\r\n"
    fields = f"software: periplus/{__version__}\r\nformat: WARC File Format 1.1\r\n"
    return _record("warcinfo", _record_id(urandom(16).hex()), head, fields.encode())


def filler() -> bytes:
    """Build a record that stands for damaged or forgotten ones."""
    head = f"WARC-Date: {_warc_date(datetime.now(UTC).timestamp())}\r\nContent-Type: text/plain\r\n"
    return _record("metadata", _record_id(urandom(16).hex()), head, b"replaces removed records")


def _record_id(digits: str) -> str:
    """A version 4 UUID of random hexadecimal digits; `uuid.uuid4` takes three times as long (decision 12)."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}>"


def _warc_date(seconds: float) -> str:
    whole = int(seconds)
    return f"{_second(whole)}.{int((seconds - whole) * 1e6):06d}Z"


@lru_cache(maxsize=8)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def _stored_head(response: Response) -> bytes:
    headers = response.headers
    head = response.head if len(response.head) <= _LONGEST_HEAD else _without_longest_lines(response.head)
    if response.status == NOT_MODIFIED:
        return head  # has no body, but may state the Content-Length of the page
    length = headers.get("content-length")
    as_sent = "content-encoding" not in headers and "transfer-encoding" not in headers
    if as_sent and (length is None or length == str(len(response.body))):
        return head
    renamed = _TRANSFER_HEADER.sub(rb"X-Crawler-\1", head)
    return renamed + b"Content-Length: %d\r\n" % len(response.body)


def _without_longest_lines(head: bytes) -> bytes:
    """Remove the longest header lines, which are never those that describe the page."""
    status_line, *lines = head.splitlines(keepends=True)
    room, kept = _LONGEST_HEAD - len(status_line), set()
    for number, line in sorted(enumerate(lines), key=lambda entry: len(entry[1])):
        room -= len(line)
        if room < 0:
            break
        kept.add(number)
    dropped = b"X-Crawler-Headers-Dropped: %d\r\n" % (len(lines) - len(kept))
    return status_line + b"".join(line for number, line in enumerate(lines) if number in kept) + dropped

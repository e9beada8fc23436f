from __future__ import annotations

import base64
import gzip
import io
import random
import zlib

import pytest
from fastwarc.stream_io import ZstdWriter

from periplus.archives.warc_reader import WarcRecord, response_of
from periplus.model import Response

LARGEST = 1_000_000
BROTLI = "GwoH+J0HdoyYjJDyDGPoNQgPFZwOS2Ob0z5laG7aRYxsTcPASSueyRkmaimnJpRpIAlz7ukA"
BODY = b"<p>" + b"The harbour lies behind a sandbank. " * 50


def _answer(block: bytes, kind: str = "response", mime: str = "application/http") -> Response | None:
    return response_of(WarcRecord(kind, "http://example.org/", 1.5, mime, block, 0, ip="192.0.2.1"), LARGEST)


def _body(headers: str, body: bytes) -> bytes:
    answer = _answer(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body)
    assert answer is not None
    return answer.body


def _zstandard(body: bytes) -> bytes:
    out = io.BytesIO()
    stream = ZstdWriter(out)
    stream.write(body)
    stream.finish()
    stream.flush()
    return out.getvalue()


def test_status_headers_and_body_are_parsed() -> None:
    answer = _answer(b"HTTP/1.0 404 Not here\nContent-Type:  text/HTML; charset=x \nX-A: 1\nX-A: 2\n\nno\n\nsuch")
    assert answer is not None
    assert (answer.status, answer.mime, answer.body) == (404, "text/html", b"no\n\nsuch")
    assert (answer.headers["x-a"], answer.ip, answer.fetched_at) == ("1, 2", "192.0.2.1", 1.5)


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("gzip, gzip", gzip.compress(gzip.compress(BODY))),
        ("br", base64.b64decode(BROTLI)),
        ("zstd", _zstandard(BODY)),
        ("identity", BODY),
        ("unheard-of", BODY),
        ("gzip", BODY),
        ("br", BODY),
    ],
    ids=["gzip", "deflate", "twice", "br", "zstd", "identity", "unheard of", "not gzip", "not br"],
)
def test_compressed_bodies_are_decompressed(encoding: str, packed: bytes) -> None:
    assert _body(f"Content-Encoding: {encoding}", packed) == BODY


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        (b"4\r\nwiki\r\n5;x=y\r\npedia\r\n0\r\n\r\n", b"wikipedia"),
        (b"4\nwiki\n0\n\n", b"wiki"),
        (b"4\r\nwiki\r\nFF\r\ncut off", b"wikicut off"),
        (b"<p>unchunked long ago", b"<p>unchunked long ago"),
        (b"", b""),
    ],
)
def test_chunked_bodies_are_joined(sent: bytes, meant: bytes) -> None:
    assert _body("Transfer-Encoding: chunked", sent) == meant


def test_a_bomb_is_truncated() -> None:
    answer = _answer(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(300 << 20), 1))
    assert answer is not None
    assert len(answer.body) == LARGEST
    assert answer.truncated


def test_a_head_is_normalised() -> None:
    answer = _answer(
        b"HTTP/1.0 302 \r\r\nLocation: http://x/\r\r\nno header\r\nX-Long: one\r\n  two\r\nContent-Length: 0"
    )
    assert answer is not None
    assert answer.head == b"HTTP/1.0 302\r\nLocation: http://x/\r\nX-Long: one two\r\nContent-Length: 0\r\n"
    assert answer.headers["location"] == "http://x/"


@pytest.mark.parametrize(
    ("line", "stored"),
    [
        (b"HTTP/1.1 HTTP/1.1 200 OK", b"HTTP/1.1 200 OK"),
        (b"HTTP/1.0 HTTP/1.1 200", b"HTTP/1.1 200"),
        (b"HTTP/1.1200 OK", b"HTTP/1.1 200 OK"),
        (b"HTTP/1.1 200OK", b"HTTP/1.1 200 OK"),
        (b"HTTP/1.1 200", b"HTTP/1.1 200"),
        (b"HTTP/1.1\t200\t OK", b"HTTP/1.1 200 OK"),
        (b"http/1.0 200 ok", b"HTTP/1.1 200 ok"),
        (b"HTTP/2 200", b"HTTP/2 200"),
        (b"HTTP 200 OK", b"HTTP/1.1 200 OK"),
        (b"HTTP/ 200 OK", b"HTTP/1.1 200 OK"),
        (b"200 OK", b"HTTP/1.1 200 OK"),
        (b"\r\n\r\nHTTP/1.1 200 OK", b"HTTP/1.1 200 OK"),
    ],
)
def test_a_broken_status_line_is_repaired(line: bytes, stored: bytes) -> None:
    answer = _answer(line + b"\r\nContent-Type: text/html\r\n\r\n<p>Muziris")
    assert answer is not None
    assert (answer.status, answer.mime, answer.body) == (200, "text/html", b"<p>Muziris")
    assert answer.head == stored + b"\r\nContent-Type: text/html\r\n"


def test_a_status_line_of_other_programs_stays_as_it_is() -> None:
    answer = _answer(b"HTTP/1.0 404  Not \xe4 here\r\n\r\n")
    assert answer is not None
    assert (answer.status, answer.head) == (404, b"HTTP/1.0 404 Not \xe4 here\r\n")


@pytest.mark.parametrize("text", [b"200 ships\n\nleft the harbour", b"200", b"HTTP is a protocol", b"HTTP/1.1 2000 OK"])
def test_a_text_without_a_status_line_is_no_response(text: bytes) -> None:
    assert _answer(text) is None


@pytest.mark.parametrize("kind", ["resource", "conversion"])
def test_a_resource_record_is_a_response(kind: str) -> None:
    answer = _answer(b"plain words", kind, "text/plain")
    assert answer is not None
    assert (answer.status, answer.mime, answer.body) == (200, "text/plain", b"plain words")


@pytest.mark.parametrize(("kind", "block"), [("request", b"GET / HTTP/1.1\r\n\r\n"), ("response", b"not HTTP at all")])
def test_a_record_without_a_response_is_none(kind: str, block: bytes) -> None:
    assert _answer(block, kind) is None


def test_a_truncated_compressed_body_gives_its_beginning() -> None:
    noise = random.Random(1).randbytes(200_000)
    found = _body("Content-Encoding: gzip", gzip.compress(noise)[:100_000])
    assert noise.startswith(found)
    assert len(found) > 50_000

"""How is a response read, and where is it cut?"""

from __future__ import annotations

import base64
import gzip
import time
import zlib

import pytest

from fetch.servers import Disconnect, answer, encoded, fetch_from, forever, replies
from periplus.fetch.response_limits import Purpose
from periplus.model import Reason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
MIB = 1 << 20


# --- well-formed responses ---


def test_a_page_comes_with_its_head_and_body() -> None:
    before = time.time()
    response = fetch_from(replies(answer(b"<p>hello", "Content-Type: Text/HTML; charset=utf-8", "X-A: 1", "X-a:  2 ")))
    assert (response.status, response.body, response.failure, response.truncated) == (200, b"<p>hello", None, False)
    assert response.head == (
        b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\nContent-Type: Text/HTML; charset=utf-8\r\nX-A: 1\r\nX-a:  2 \r\n"
    )
    assert response.headers == {"content-length": "8", "content-type": "Text/HTML; charset=utf-8", "x-a": "1, 2"}
    assert response.mime == "text/html"
    assert response.ip == "127.0.0.1"
    assert before <= response.fetched_at <= time.time()
    assert 0 < response.seconds < 5


def test_of_a_repeated_single_value_header_the_last_one_counts() -> None:
    types = ("Content-Type: text/plain", "Content-Type: text/html", 'ETag: "1"', 'ETag: "2"', "Vary: a", "vary: b")
    response = fetch_from(replies(answer(b"<p>hello", *types)))
    assert (response.mime, response.headers["etag"], response.headers["vary"]) == ("text/html", '"2"', "a, b")
    assert response.body == b"<p>hello"


def test_interim_responses_and_trailers_are_not_part_of_the_head() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
    response = fetch_from(
        replies(b"HTTP/1.1 100 Continue\r\n\r\n", interim, CHUNKED, b"3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n")
    )
    assert response.head == CHUNKED[:-2]
    assert (response.status, response.body, response.failure) == (200, b"abc", None)
    assert "link" not in response.headers
    assert "x-sum" not in response.headers


@pytest.mark.parametrize("body", [b"", b"x" * 100_000])
def test_a_redirect_is_reported_and_not_followed(body: bytes) -> None:
    response = fetch_from(replies(answer(body, "Location: /elsewhere", status="301 Moved Permanently")))
    assert (response.status, response.headers["location"]) == (301, "/elsewhere")
    assert (response.failure, response.body, response.truncated) == (None, body[:65536], len(body) > 65536)


def test_an_error_page_is_a_response_whatever_its_type() -> None:
    response = fetch_from(replies(answer(b"\x89PNG", "Content-Type: image/png", status="404 Not Found")))
    assert (response.status, response.body, response.failure) == (404, b"\x89PNG", None)


def test_header_bytes_outside_ascii_are_kept() -> None:
    response = fetch_from(replies(answer(b"", "Content-Type: text/html", "X-City: Z\xfcrich")))
    assert response.headers["x-city"] == "Z\xfcrich"
    assert b"Z\xfcrich" in response.head


def test_lines_that_end_in_a_bare_line_feed_are_archived_with_both_characters() -> None:
    response = fetch_from(replies(b"HTTP/1.0 200 OK\nContent-Type: text/html\n\nhello", then=Disconnect))
    assert response.head == b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n"
    assert response.body == b"hello"


def test_a_folded_header_is_one_header() -> None:
    response = fetch_from(replies(OK + b"X-Long: one\r\n  two\r\nContent-Length: 0\r\n\r\n"))
    assert response.headers["x-long"].split() == ["one", "two"]


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"<p>hello")),
        ("deflate", zlib.compress(b"<p>hello")),
        ("gzip, gzip", gzip.compress(gzip.compress(b"<p>hello"))),
        ("br", base64.b64decode("iwOAPHA+aGVsbG8D")),
    ],
    ids=["gzip", "deflate", "gzip twice", "br"],
)
def test_a_compressed_page_arrives_decoded(encoding: str, body: bytes) -> None:
    response = fetch_from(encoded(body, encoding))
    assert (response.body, response.headers["content-encoding"]) == (b"<p>hello", encoding)


# --- sizes ---


def test_a_long_page_is_cut_at_the_cap_and_one_of_exactly_that_length_is_not() -> None:
    exact = fetch_from(replies(answer(b"x" * 2048)), html_bytes=2048)
    longer = fetch_from(replies(answer(b"x" * 2049)), html_bytes=2048)
    assert (len(exact.body), exact.truncated, exact.failure) == (2048, False, None)
    assert (len(longer.body), longer.truncated, longer.failure) == (2048, True, None)


def test_an_endless_page_is_cut() -> None:
    response = fetch_from(forever(OK + b"\r\n", b"x" * 65536), html_bytes=MIB)
    assert (len(response.body), response.truncated, response.failure) == (MIB, True, None)


def brotli_bomb(size: int = 1 << 24) -> bytes:
    """One literal and one very long copy of it (RFC 7932, section 9), every code having a single symbol."""
    header = [(15, 4), (1, 1), (0, 1), (2, 2), (size - 1, 24), (0, 3), (0, 6), (0, 2), (0, 2)]
    codes = [(1, 4), (0x20, 8), (1, 4), (399, 10), (1, 4), (8, 6)]  # a space; insert 1 and copy; at distance 1
    value = width = 0
    for field, bits in [*header, *codes, (size - 1 - 2118, 24)]:
        value |= field << width
        width += bits
    return value.to_bytes((width + 7) // 8, "little")


BOMBS = {
    "gzip": gzip.compress(bytes(64 * MIB), 9),
    "deflate": zlib.compress(bytes(64 * MIB), 9),
    "gzip, gzip": gzip.compress(gzip.compress(bytes(64 * MIB), 9), 9),
    "br": brotli_bomb(),
}


@pytest.mark.parametrize("encoding", BOMBS)
def test_a_compression_bomb_is_cut_by_its_decoded_size(encoding: str) -> None:
    response = fetch_from(encoded(BOMBS[encoding], encoding), html_bytes=MIB)
    assert (len(response.body), response.truncated, response.failure) == (MIB, True, None)
    assert response.seconds < 10


PDF = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n"


def test_a_pdf_that_is_declared_too_large_is_not_read() -> None:
    response = fetch_from(replies(PDF + b"Content-Length: 5000\r\n\r\n", b"%PDF-", pause=5), pdf_bytes=4096)
    assert (response.failure, response.status, response.body) == (Reason.TOO_LARGE, 200, b"")
    assert response.seconds < 4


def test_a_pdf_that_grows_too_large_is_dropped_whole() -> None:
    response = fetch_from(forever(PDF + b"\r\n", b"x" * 1000), pdf_bytes=4096)
    assert (response.failure, response.status, response.body) == (Reason.TOO_LARGE, 200, b"")


def test_a_pdf_that_fits_is_read() -> None:
    assert (
        fetch_from(replies(answer(b"%PDF-" + bytes(4091), "Content-Type: application/pdf")), pdf_bytes=4096).failure
        is None
    )


def test_a_robots_file_is_cut_at_its_own_cap() -> None:
    response = fetch_from(forever(PDF + b"\r\n", b"#" * 65536), purpose=Purpose.ROBOTS, robots_bytes=600 * 1024)
    assert (len(response.body), response.truncated, response.failure) == (600 * 1024, True, None)


# --- types ---


def test_a_wrong_type_ends_the_transfer_before_the_body() -> None:
    response = fetch_from(replies(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n", bytes(1000), pause=5))
    assert (response.failure, response.status, response.body) == (Reason.WRONG_TYPE, 200, b"")
    assert response.headers == {"content-type": "video/mp4"}
    assert "video/mp4" in response.detail
    assert response.seconds < 4


def test_a_page_without_a_type_is_read_when_it_looks_like_text() -> None:
    assert fetch_from(replies(answer(b"<p>hello", "X: 1"))).body == b"<p>hello"
    assert fetch_from(replies(answer(b"", "X: 1"))).failure is None


@pytest.mark.parametrize("body", [b"\x89PNG\r\n\x1a\n" + bytes(10), b"GIF89a\x01\x00" + b"x" * 5000, b"%PDF-1.7\n"])
def test_a_file_without_a_type_that_is_not_text_is_dropped(body: bytes) -> None:
    response = fetch_from(replies(answer(body, "X: 1")))
    assert (response.failure, response.body, response.status) == (Reason.WRONG_TYPE, b"", 200)

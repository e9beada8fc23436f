"""Responses that break off, are malformed or never end become failures with a reason."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetch.servers import Disconnect, Reply, Reset, answer, encoded, fetch_from, forever, replies
from periplus.fetch import request as options
from periplus.model import Reason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


# --- truncated and malformed responses ---


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (replies(then=Disconnect), Reason.CUT_SHORT),
        (replies(then=Reset), Reason.CUT_SHORT),
        (replies(OK, then=Disconnect), Reason.CUT_SHORT),
        (replies(OK + b"Content-Length: 100\r\n\r\nhalf", then=Disconnect), Reason.CUT_SHORT),
        (replies(OK + b"Content-Length: 100\r\n\r\nhalf", pause=0.05, then=Reset), Reason.CUT_SHORT),
        (replies(CHUNKED + b"5\r\nabc", then=Disconnect), Reason.CUT_SHORT),
        (replies(CHUNKED + b"3\r\nabc\r\n", then=Disconnect), Reason.CUT_SHORT),
        (replies(CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n"), Reason.BAD_HTTP),
        (replies(CHUNKED + b"3\r\nabcdefgh\r\n0\r\n\r\n"), Reason.BAD_HTTP),
        (replies(CHUNKED + b"F" * 40 + b"\r\nabc"), Reason.BAD_HTTP),
        (replies(b"220 mail.example ESMTP\r\n", then=Disconnect), Reason.BAD_HTTP),
        (replies(b"<html>no header at all", then=Disconnect), Reason.BAD_HTTP),
        (replies(b"HTTP/9.9 200 OK\r\n\r\n", then=Disconnect), Reason.BAD_HTTP),
        (replies(OK + b"X: \x00\r\n\r\n", then=Disconnect), Reason.BAD_HTTP),
        (replies(OK + b"Content-Length: -5\r\n\r\nabc", then=Disconnect), Reason.BAD_HTTP),
        (replies(OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc", then=Disconnect), Reason.BAD_HTTP),
        (encoded(b"not gzip at all", "gzip"), Reason.BAD_HTTP),
        (encoded(b"<p>", "snappy"), Reason.BAD_HTTP),
        (encoded(b"", ", ".join(["gzip"] * 50)), Reason.BAD_HTTP),
    ],
)
def test_a_broken_response_is_a_failure_with_a_reason(reply: Reply, reason: Reason) -> None:
    response = fetch_from(reply, timeout=2)
    assert (response.failure, response.body) == (reason, b"")
    assert response.detail


def test_the_head_ends_where_libcurl_sees_its_end() -> None:
    assert fetch_from(replies(OK + b"\r\x00\nbody", then=Disconnect)).body == b"body"


def test_what_follows_the_declared_length_is_not_part_of_the_page() -> None:
    assert fetch_from(replies(OK + b"Content-Length: 3\r\n\r\nabcdef")).body == b"abc"


@pytest.mark.parametrize(
    "reply",
    [
        forever(OK, b"X-Filler: " + b"x" * 90 + b"\r\n"),
        forever(OK + b"X-Endless: ", b"x" * 1000),
        forever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        forever(CHUNKED + b"0\r\n", b"X-Trailer: " + b"x" * 90 + b"\r\n"),
    ],
    ids=["many lines", "one line", "interim answers", "trailers"],
)
def test_endless_headers_are_refused(reply: Reply) -> None:
    response = fetch_from(reply, header_bytes=32_768)
    assert response.failure is Reason.BAD_HTTP
    assert response.seconds < 10


def test_headers_up_to_the_limit_are_read() -> None:
    reply = replies(answer(b"", "Content-Type: text/html", "X: " + "x" * 60_000))
    assert fetch_from(reply).failure is None
    assert fetch_from(reply, header_bytes=50_000).failure is Reason.BAD_HTTP


# --- slow responses ---


@pytest.mark.parametrize(
    "reply",
    [
        forever(b"", b"", pause=0.05),
        forever(b"HTTP/1.1 200 OK\r\nX: ", b"x", pause=0.02),
        forever(OK + b"\r\n", b"x", pause=0.02),
    ],
    ids=["silence", "dripping headers", "dripping body"],
)
def test_a_fetch_ends_at_its_timeout(reply: Reply) -> None:
    response = fetch_from(reply, timeout=0.3)
    assert (response.failure, response.body) == (Reason.TIMEOUT, b"")
    assert 0.2 < response.seconds < 10


@pytest.mark.slow
def test_a_very_slow_transfer_is_aborted_before_its_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "SLOW_SECONDS", 1)
    response = fetch_from(forever(OK + b"\r\n", b"x", pause=0.05), timeout=20)
    assert (response.failure, response.body) == (Reason.TOO_SLOW, b"")
    assert response.seconds < 15


# --- random bytes ---


@settings(max_examples=100)
@given(st.binary(max_size=300), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", OK, CHUNKED, b"HTTP/1.1 100 \r\n\r\n"]))
def test_any_bytes_from_a_server_yield_a_response(noise: bytes, opening: bytes) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as complaints:  # where pycurl reports errors in our callbacks
        response = fetch_from(replies(opening + noise, then=Disconnect), timeout=2)
    assert not complaints.getvalue()
    assert response.failure is not None or response.status >= 200
    assert not response.failure or not response.body

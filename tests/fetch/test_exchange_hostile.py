"""What is made of an answer that breaks off, lies, or never ends?"""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetch.servers import HangUp, Reply, Reset, answer, ask, encoded, forever, says
from periplus.fetch import request as options
from periplus.model import Reason

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


# --- answers that break off or make no sense ---


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (says(then=HangUp), Reason.CUT_SHORT),
        (says(then=Reset), Reason.CUT_SHORT),
        (says(OK, then=HangUp), Reason.CUT_SHORT),
        (says(OK + b"Content-Length: 100\r\n\r\nhalf", then=HangUp), Reason.CUT_SHORT),
        (says(OK + b"Content-Length: 100\r\n\r\nhalf", pause=0.05, then=Reset), Reason.CUT_SHORT),
        (says(CHUNKED + b"5\r\nabc", then=HangUp), Reason.CUT_SHORT),
        (says(CHUNKED + b"3\r\nabc\r\n", then=HangUp), Reason.CUT_SHORT),
        (says(CHUNKED + b"zz\r\nabc\r\n0\r\n\r\n"), Reason.BAD_HTTP),
        (says(CHUNKED + b"3\r\nabcdefgh\r\n0\r\n\r\n"), Reason.BAD_HTTP),
        (says(CHUNKED + b"F" * 40 + b"\r\nabc"), Reason.BAD_HTTP),
        (says(b"220 mail.example ESMTP\r\n", then=HangUp), Reason.BAD_HTTP),
        (says(b"<html>no header at all", then=HangUp), Reason.BAD_HTTP),
        (says(b"HTTP/9.9 200 OK\r\n\r\n", then=HangUp), Reason.BAD_HTTP),
        (says(OK + b"X: \x00\r\n\r\n", then=HangUp), Reason.BAD_HTTP),
        (says(OK + b"Content-Length: -5\r\n\r\nabc", then=HangUp), Reason.BAD_HTTP),
        (says(OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc", then=HangUp), Reason.BAD_HTTP),
        (encoded(b"not gzip at all", "gzip"), Reason.BAD_HTTP),
        (encoded(b"<p>", "snappy"), Reason.BAD_HTTP),
        (encoded(b"", ", ".join(["gzip"] * 50)), Reason.BAD_HTTP),
    ],
)
def test_a_broken_answer_is_a_failure_with_a_reason(reply: Reply, reason: Reason) -> None:
    response = ask(reply, timeout=2)
    assert (response.failure, response.body) == (reason, b"")
    assert response.detail


def test_the_head_ends_where_libcurl_sees_its_end() -> None:
    assert ask(says(OK + b"\r\x00\nbody", then=HangUp)).body == b"body"


def test_what_follows_the_declared_length_is_not_part_of_the_page() -> None:
    assert ask(says(OK + b"Content-Length: 3\r\n\r\nabcdef")).body == b"abc"


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
    response = ask(reply, header_bytes=32_768)
    assert response.failure is Reason.BAD_HTTP
    assert response.seconds < 10


def test_headers_up_to_the_limit_are_read() -> None:
    reply = says(answer(b"", "Content-Type: text/html", "X: " + "x" * 60_000))
    assert ask(reply).failure is None
    assert ask(reply, header_bytes=50_000).failure is Reason.BAD_HTTP


# --- slow answers ---


@pytest.mark.parametrize(
    "reply",
    [
        forever(b"", b"", pause=0.05),
        forever(b"HTTP/1.1 200 OK\r\nX: ", b"x", pause=0.02),
        forever(OK + b"\r\n", b"x", pause=0.02),
    ],
    ids=["silence", "dripping headers", "dripping body"],
)
def test_a_fetch_ends_when_its_time_is_up(reply: Reply) -> None:
    response = ask(reply, timeout=0.3)
    assert (response.failure, response.body) == (Reason.TIMEOUT, b"")
    assert 0.2 < response.seconds < 10


@pytest.mark.slow
def test_a_dripping_page_is_dropped_before_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "SLOW_SECONDS", 1)
    response = ask(forever(OK + b"\r\n", b"x", pause=0.05), timeout=20)
    assert (response.failure, response.body) == (Reason.TOO_SLOW, b"")
    assert response.seconds < 15


# --- anything ---


@settings(max_examples=100)
@given(st.binary(max_size=300), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", OK, CHUNKED, b"HTTP/1.1 100 \r\n\r\n"]))
def test_whatever_a_server_says_there_is_a_response(noise: bytes, opening: bytes) -> None:
    with contextlib.redirect_stderr(io.StringIO()) as complaints:  # where pycurl reports errors in our callbacks
        response = ask(says(opening + noise, then=HangUp), timeout=2)
    assert not complaints.getvalue()
    assert response.failure is not None or response.status >= 200
    assert not response.failure or not response.body

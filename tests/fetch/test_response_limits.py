"""How many bytes are read of which responses?"""

from __future__ import annotations

import pytest

from periplus.config import Fetching
from periplus.fetch.response_limits import Purpose, ResponseLimit, ResponseLimits, looks_binary
from periplus.model import Reason

SETTINGS = Fetching(html_bytes=5000, pdf_bytes=9000)
KINDS = ResponseLimits(SETTINGS)


def allowed(mime: str, status: int = 200, declared: int = 0, purpose: Purpose = Purpose.PAGE) -> ResponseLimit:
    return KINDS.of(purpose, status, mime, declared)


@pytest.mark.parametrize(
    "mime",
    [
        "text/html",
        "application/xhtml+xml",
        "text/plain",
        "text/xml",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
    ],
)
def test_text_is_read_up_to_its_cap(mime: str) -> None:
    assert allowed(mime, declared=10**9) == ResponseLimit(5000)


def test_a_pdf_is_read_whole_or_not_at_all() -> None:
    assert allowed("application/pdf", declared=9000) == ResponseLimit(9000, cut=False)
    assert allowed("application/pdf", declared=9001).refused is Reason.TOO_LARGE


@pytest.mark.parametrize(
    "mime",
    ["image/png", "image/svg+xml", "video/mp4", "application/octet-stream", "text/css", "nonsense"],
)
def test_other_types_are_not_read(mime: str) -> None:
    assert allowed(mime).refused is Reason.WRONG_TYPE
    assert mime in allowed(mime).detail


def test_a_missing_type_has_to_look_like_text() -> None:
    assert allowed("") == ResponseLimit(5000, sniff=True)


@pytest.mark.parametrize("status", [301, 304, 404, 410, 500, 999])
def test_an_error_response_is_read_only_for_its_message(status: int) -> None:
    assert allowed("video/mp4", status) == ResponseLimit(64 * 1024)


@pytest.mark.parametrize("mime", ["text/plain", "text/html", "", "application/octet-stream"])
def test_a_robots_file_may_have_any_type(mime: str) -> None:
    assert allowed(mime, purpose=Purpose.ROBOTS) == ResponseLimit(SETTINGS.robots_bytes)


@pytest.mark.parametrize(
    ("opening", "binary"),
    [
        (b"", False),
        (b"<!doctype html>", False),
        (b"\xef\xbb\xbftext", False),
        (b"\xff\xfe<\0h\0", False),
        (b"\xfe\xff\0<\0h", False),
        ("Grüße".encode(), False),
        ("Grüße".encode("latin-1"), False),
        (b"\x1b[1mcolour\x1b[0m\t\r\n\x0c", False),
        (b"%PDF-1.7", True),
        (b"PK\x03\x04", True),
        (b"\x1f\x8b\x08\x00", True),
        (b"\x7fELF\x02\x01\x01\x00", True),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", True),
    ],
)
def test_text_is_recognised_by_its_first_bytes(opening: bytes, binary: bool) -> None:
    assert looks_binary(opening) is binary

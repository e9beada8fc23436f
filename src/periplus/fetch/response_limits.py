"""How much of an answer is read?

Decided when the last header line is in and before the body is: by what it was fetched for, its status and its type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from periplus.config.settings import Fetching
from periplus.model import Reason

SNIFFED = 512  # bytes that show whether an answer without a type is text
_ERROR_BODY = 64 * 1024  # bytes read of an answer that is not the page: enough for its message
_PDF = "application/pdf"
_TEXT = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml"})
_NEVER_A_LIST = ("image/", "video/", "audio/", "font/", _PDF)  # any other type has been seen on a sitemap
_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")  # UTF-16 is text although it is full of zeros
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class Purpose(Enum):
    """What an answer is fetched for: it decides which types are read, and how far."""

    PAGE = auto()
    ROBOTS = auto()
    SITEMAP = auto()


@dataclass(frozen=True, slots=True)
class ResponseLimit:
    """What may be read of one answer."""

    limit: int = 0  # decoded bytes
    cut: bool = True  # whether a longer body is cut there; else it is of no use
    sniff: bool = False  # the opening of the body has to look like text
    refused: Reason | None = None  # nothing is read at all
    detail: str = ""


class ResponseLimits:
    """The allowances under one configuration."""

    def __init__(self, settings: Fetching) -> None:
        self._error = ResponseLimit(_ERROR_BODY)
        self._robots = ResponseLimit(settings.robots_bytes)
        self._sitemap = ResponseLimit(settings.sitemap_bytes)
        self._text = ResponseLimit(settings.html_bytes)
        self._untyped = ResponseLimit(settings.html_bytes, sniff=True)
        self._pdf = ResponseLimit(settings.pdf_bytes, cut=False)

    def of(self, purpose: Purpose, status: int, mime: str, declared: int) -> ResponseLimit:
        """What is read of an answer with this status and type; *declared* is its Content-Length."""
        if not 200 <= status < 300:
            return self._error
        if purpose is Purpose.ROBOTS:
            return self._robots
        if purpose is Purpose.SITEMAP and not mime.startswith(_NEVER_A_LIST):
            return self._sitemap
        if mime in _TEXT or (mime.startswith("application/") and mime.endswith("+xml")):
            return self._text
        if not mime:
            return self._untyped
        if mime != _PDF or purpose is Purpose.SITEMAP:
            return ResponseLimit(refused=Reason.WRONG_TYPE, detail=f"{mime[:100]} is not read")
        if declared > self._pdf.limit:
            return ResponseLimit(
                refused=Reason.TOO_LARGE, detail=f"a PDF of {declared} bytes; {self._pdf.limit} are read"
            )
        return self._pdf


def looks_binary(opening: bytes) -> bool:
    """Whether a body of unknown type starts like something that is not text."""
    if opening.startswith(_TEXT_MARKS):
        return False
    return opening.startswith(b"%PDF-") or _BINARY.search(opening) is not None

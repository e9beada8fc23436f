"""How many bytes of a response are read?

The limit is set between the headers and the body. It depends on the purpose of the request, the status and the type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from periplus.config.settings import Fetching
from periplus.model import Reason

SNIFFED = 512  # bytes examined to decide whether a body without a Content-Type is text
_ERROR_BODY = 64 * 1024  # bytes read of a response that is not 2xx: enough for its message
_SERVICE_BODY = 64 * 1024  # bytes; a larger answer of a web service is refused
_PDF = "application/pdf"
_TEXT = frozenset({"text/html", "application/xhtml+xml", "text/plain", "text/xml", "application/xml"})
_NEVER_A_SITEMAP = ("image/", "video/", "audio/", "font/", _PDF)  # servers send sitemaps with any other type
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")  # UTF-16 is text although it contains zero bytes
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class Purpose(Enum):
    """Why a URL is fetched; the purpose decides which content types are read, and the size limit."""

    PAGE = auto()
    ROBOTS = auto()
    SITEMAP = auto()
    SERVICE = auto()  # data of a web service


@dataclass(frozen=True, slots=True)
class ResponseLimit:
    """How much of one response is read."""

    limit: int = 0  # decoded bytes
    cut: bool = True  # a longer body is truncated; otherwise it is refused
    sniff: bool = False  # the first bytes must look like text
    refused: Reason | None = None  # the body is not read
    detail: str = ""


class ResponseLimits:
    """Finds the limit of a response, from the settings."""

    def __init__(self, settings: Fetching) -> None:
        self._error = ResponseLimit(_ERROR_BODY)
        self._robots = ResponseLimit(settings.robots_bytes)
        self._sitemap = ResponseLimit(settings.sitemap_bytes)
        self._text = ResponseLimit(settings.html_bytes)
        self._untyped = ResponseLimit(settings.html_bytes, sniff=True)
        self._pdf = ResponseLimit(settings.pdf_bytes, cut=False)
        self._service = ResponseLimit(_SERVICE_BODY, cut=False)

    def of(self, purpose: Purpose, status: int, mime: str, declared: int) -> ResponseLimit:
        """Return the limit for a response with this status and type; *declared* is its Content-Length."""
        if not 200 <= status < 300:
            return self._error
        if purpose is Purpose.ROBOTS:
            return self._robots
        if purpose is Purpose.SERVICE:
            return self._service
        if purpose is Purpose.SITEMAP and not mime.startswith(_NEVER_A_SITEMAP):
            return self._sitemap
        if mime in _TEXT or (mime.startswith("application/") and mime.endswith("+xml")):
            return self._text
        if not mime:
            return self._untyped
        if mime != _PDF or purpose is Purpose.SITEMAP:
            return ResponseLimit(refused=Reason.WRONG_TYPE, detail=f"content type {mime[:100]} is not supported")
        if declared > self._pdf.limit:
            return ResponseLimit(
                refused=Reason.TOO_LARGE, detail=f"PDF of {declared} bytes; the limit is {self._pdf.limit}"
            )
        return self._pdf


def looks_binary(start: bytes) -> bool:
    """Whether a body of unknown type starts with bytes that are not text."""
    if start.startswith(_BYTE_ORDER_MARKS):
        return False
    return start.startswith(b"%PDF-") or _BINARY.search(start) is not None

"""Builds the bytes of a response from a page."""

from __future__ import annotations

import gzip
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, formatdate, parsedate_to_datetime
from functools import lru_cache
from html import escape
from http import HTTPStatus

from .message import Request
from .page import Link, Page

SLICE = 64 * 1024  # bytes per write; also the largest response sent without waiting for the client
NOT_FOUND = Page(title="Not found", text="There is no such page here.", status=404)
MISDIRECTED = Page(title="Unknown host", text="This web does not know that host.", status=421)


@dataclass(frozen=True, slots=True)
class Answer:
    """A page turned into bytes for one request."""

    status: int
    head: bytes  # status line and headers, with the blank line
    body: bytes
    padding: int  # spaces that follow the body
    chunked: bool

    def pieces(self, step: int) -> Iterator[bytes]:
        """The body in slices of at most `step` bytes, framed as the head announced."""
        for start in range(0, len(self.body), step):
            yield self._framed(self.body[start : start + step])
        for start in range(0, self.padding, step):
            yield self._framed(b" " * min(step, self.padding - start))
        if self.chunked:
            yield b"0\r\n\r\n"

    def _framed(self, data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data


def answer(page: Page, request: Request) -> Answer:
    """Build the response to a request: whole, head only, compressed, or a 304."""
    status = page.status or (302 if page.redirect is not None else 200)
    headers = {"Date": _http_date(int(time.time())), "Server": "testweb"} | _validators(page)
    if status == 200 and _unchanged(page, request.headers):
        status = 304
    if page.redirect is not None:
        headers["Location"] = page.redirect
    if status < 200 or status in (204, 304):  # these never have a body
        return Answer(status, _head(status, headers, page, request), b"", 0, False)
    body, padding = _coded(page, request, headers)
    if page.content_type:
        headers["Content-Type"] = page.content_type
    if page.chunked:
        headers["Transfer-Encoding"] = "chunked"
    else:
        headers["Content-Length"] = str(len(body) + padding)
    head = _head(status, headers, page, request)
    if request.method == "HEAD":
        return Answer(status, head, b"", 0, False)
    return Answer(status, head, body, padding, page.chunked)


def document(page: Page) -> bytes:
    """The body before padding and compression."""
    if page.body is not None:
        return page.body if isinstance(page.body, bytes) else page.body.encode("utf-8", "surrogateescape")
    if page.redirect is not None and not (page.title or page.text or page.html):
        return b""
    title = escape(page.title)
    parts = [
        f'<!DOCTYPE html>\n<html lang="{page.lang}">' if page.lang else "<!DOCTYPE html>\n<html>",
        f'<head>\n<meta charset="utf-8">\n<title>{title}</title>{page.head}\n</head>',
        f"<body>\n<main>\n<h1>{title}</h1>",
        *[f"<p>{paragraph}</p>" for paragraph in escape(page.text).split("\n\n") if paragraph],
        f"{page.html}</main>\n<ul>",
        *map(_anchor, page.links),
        "</ul>\n</body>\n</html>\n",
    ]
    return "\n".join(parts).encode("utf-8", "surrogateescape")


def _coded(page: Page, request: Request, headers: dict[str, str]) -> tuple[bytes, int]:
    """The encoded body, and the number of padding spaces."""
    body = document(page)
    if page.encoding == "gzip":
        headers["Vary"] = "Accept-Encoding"
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return gzip.compress(body.ljust(page.size), compresslevel=1, mtime=0), 0
    return body, max(0, page.size - len(body))


def _anchor(link: Link) -> str:
    href, text = (link, link) if isinstance(link, str) else link
    return f'<li><a href="{escape(href)}">{escape(text)}</a></li>'


def _validators(page: Page) -> dict[str, str]:
    validators: dict[str, str] = {}
    if page.etag is not None:
        validators["ETag"] = _quoted(page.etag)
    if page.last_modified is not None:
        validators["Last-Modified"] = format_datetime(page.last_modified.astimezone(UTC), usegmt=True)
    return validators


def _quoted(etag: str) -> str:
    return etag if etag.startswith(('"', "W/")) else f'"{etag}"'


def _unchanged(page: Page, headers: Mapping[str, str]) -> bool:
    """RFC 9110 section 13.2.2: a date is looked at only if no entity tag was sent."""
    tags = headers.get("if-none-match")
    if tags is not None:
        known = [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        return "*" in known or (page.etag is not None and _quoted(page.etag).removeprefix("W/") in known)
    since = _parse_date(headers.get("if-modified-since", ""))
    if since is None or page.last_modified is None:
        return False
    return page.last_modified.replace(microsecond=0) <= since  # HTTP dates have no fractions


def _parse_date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None  # RFC 9110: a date that cannot be read is ignored
    return date if date.tzinfo else date.replace(tzinfo=UTC)


@lru_cache(maxsize=1)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)


def _head(status: int, headers: dict[str, str], page: Page, request: Request) -> bytes:
    if not request.keep_alive:
        headers["Connection"] = "close"
    pairs = list(headers.items())
    if page.headers:
        own = list(page.headers.items()) if isinstance(page.headers, Mapping) else list(page.headers)
        names = {name.lower() for name, _ in own}
        pairs = [pair for pair in pairs if pair[0].lower() not in names] + own
    lines = "".join([f"{name}: {value}\r\n" for name, value in pairs])
    return f"HTTP/1.1 {status} {_reason(status)}\r\n{lines}\r\n".encode("utf-8", "surrogateescape")


@lru_cache(maxsize=64)
def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"

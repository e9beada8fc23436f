"""Archives as other programs write them, for the tests of everything that reads them."""

from __future__ import annotations

import gzip

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
DATE = "2024-05-17T09:30:00Z"
MOMENT = 1715938200.0


def warc(
    block: bytes, *lines: str, kind: str = "response", url: str = "http://example.org/", length: int | None = None
) -> bytes:
    """One record; *length* may lie."""
    fields = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {url}",
        f"WARC-Date: {DATE}",
        "Content-Type: application/http; msgtype=response",
        *lines,
        f"Content-Length: {len(block) if length is None else length}",
    ]
    return "\r\n".join(fields).encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def page(words: str, url: str = "http://example.org/") -> bytes:
    """A record of a page that says something."""
    return warc(HEAD + b"\r\n" + f"<title>{words}</title><p>{words}".encode(), url=url)


def arc(block: bytes, url: str = "http://example.org/", mime: str = "text/html", date: str = "20240517093000") -> bytes:
    """One record of the older format."""
    return f"{url} 192.0.2.1 {date} {mime} {len(block)}\n".encode() + block + b"\n"


def packed(*records: bytes) -> bytes:
    """Records compressed one by one."""
    return b"".join(gzip.compress(record, mtime=0) for record in records)

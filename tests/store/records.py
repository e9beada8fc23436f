"""Records that look like those of a crawl, for the tests of everything that keeps or queues them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from periplus.errors import PeriplusError
from periplus.model import (
    ArchivePosition,
    Decision,
    Fetch,
    QueuedUrl,
    Reason,
    Response,
    UrlState,
    Verdict,
    add_header,
)
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.url import host_of

AT = 1_700_000_000.123456
WRITTEN = Written(0, "w00-000001.warc.gz", 4096)
OK = Decision(Verdict.FETCHED, Reason.OK)
GONE = Decision(Verdict.DROPPED, Reason.HTTP_ERROR, "404")


def a_response(
    *lines: bytes,
    url: str = "https://example.org/page",
    body: bytes = b"<p>hello",
    status_line: bytes = b"HTTP/1.1 200 OK",
    ip: str = "192.0.2.1",
    truncated: bool = False,
) -> Response:
    """A response with these header lines, the headers read as the fetcher reads them."""
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode("latin-1").partition(":")
        add_header(headers, name.rstrip().lower(), value.strip())
    return Response(
        url=url,
        fetched_at=AT,
        status=int(status_line.split()[1]),
        head=b"".join(line + b"\r\n" for line in (status_line, *lines)),
        headers=headers,
        body=body,
        truncated=truncated,
        request=b"GET /page HTTP/1.1\r\nHost: example.org\r\n\r\n",
        ip=ip,
    )


def queued(url: str, priority: float = 0.0, *, due: float = 0.0, via: str = "", attempts: int = 0) -> QueuedUrl:
    """A URL that a link led to."""
    return QueuedUrl(url, host_of(url), int(priority), priority, Reason.LINK, via, attempts=attempts, due=due)


def a_fetch(
    url: str, *, decision: Decision = OK, status: int = 200, position: ArchivePosition | None = None, size: int = 8
) -> Fetch:
    """An attempt at a URL."""
    content_id = hashlib.sha256(url.encode()).digest()
    return Fetch(url, AT, status, decision, "text/html", size, content_id, position, etag='"1"', seconds=0.25)


def done(item: QueuedUrl, *, size: int = 8) -> Settled:
    """A URL that was fetched."""
    return Settled(item, UrlState.DONE, OK, a_fetch(item.url, size=size))


def failed(item: QueuedUrl) -> Settled:
    """A URL that is given up."""
    return Settled(item, UrlState.FAILED, GONE, a_fetch(item.url, decision=GONE, status=404))


def refused(item: QueuedUrl, reason: Reason = Reason.ROBOTS) -> Settled:
    """A URL that turned out to be forbidden."""
    return Settled(item, UrlState.REFUSED, Decision(Verdict.REFUSED, reason, "a rule"))


def retried(item: QueuedUrl, due: float) -> Settled:
    """A URL that is to be tried again."""
    again = item._replace(attempts=item.attempts + 1, due=due)
    decision = Decision(Verdict.DELAYED, Reason.RETRY, "timeout")
    return Settled(again, UrlState.QUEUED, decision, a_fetch(item.url, decision=decision, status=0))


def batch_of(*items: QueuedUrl) -> Batch:
    """A batch that admits these."""
    return Batch(admitted=list(items))


def names_in(folder: Path) -> list[str]:
    """The names in a folder, in order."""
    return sorted(path.name for path in folder.iterdir())


def error_line(kind: type[PeriplusError], action: Callable[[], object], *, exit_code: int = 1) -> str:
    """The message of the error that *action* must raise, with this class and exit code."""
    with pytest.raises(kind) as caught:
        action()
    assert type(caught.value) is kind
    assert caught.value.exit_code == exit_code
    line = str(caught.value)
    assert line
    assert "\n" not in line
    return line

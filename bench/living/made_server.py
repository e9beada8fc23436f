"""Serves a made web on loopback from memory, in a process of its own, and writes the time of every request.

    python made_server.py HOSTS PAGES LOG

prints its port when it is ready, and ends when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, cast

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from living.made_web import MadeWeb  # the path above

_HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
_HTML = b"text/html; charset=utf-8"
Pages = Callable[[bytes, bytes], bytes]  # host, path


class PageProtocol(asyncio.Protocol):
    """One connection; requests have no bodies.

    *page_at* returns the page of a host at a path, empty bytes if there is none. Only hosts with a start page may be
    crawled. Without *log*, requests are not written down. With *closes*, a connection has one request.
    """

    def __init__(self, page_at: Pages, log: TextIO | None, *, closes: bool) -> None:
        self._page_at, self._log, self._buffer = page_at, log, b""
        self._connection = b"Connection: close\r\n" if closes else b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._transport.write(self._answer(head))
            if self._connection:
                self._transport.close()

    def _answer(self, head: bytes) -> bytes:
        path = head.split(b" ", 2)[1]
        host = head.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].partition(b":")[0]
        if path == b"/robots.txt":
            body = b"User-agent: *\nDisallow:\n" if self._page_at(host, b"/") else b"User-agent: *\nDisallow: /\n"
            return _HEAD % (b"200 OK", b"text/plain", len(body), self._connection) + body
        body = self._page_at(host, path)
        if self._log is not None:
            self._log.write(f"{time.time():.3f}\t{host.decode()}\t{path.decode()}\t{200 if body else 404}\n")
        if not body:
            return _HEAD % (b"404 Not Found", b"text/plain", 0, self._connection)
        return _HEAD % (b"200 OK", _HTML, len(body), self._connection) + body


async def serve(page_at: Pages, log: TextIO | None = None, *, closes: bool = False) -> None:
    """Serves pages and prints the port, until standard input is closed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: PageProtocol(page_at, log, closes=closes), "127.0.0.1", 0, backlog=2_048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, os.read, 0, 1)  # until the bench ends


def _pages(web: MadeWeb) -> Pages:
    """All pages of the web, made in advance."""
    pages = {
        (web.host(host).encode(), b"/page/%d" % page if page else b"/"): web.page(host, page).encode()
        for host in range(web.hosts)
        for page in range(web.pages)
    }
    return lambda host, path: pages.get((host, path), b"")


def main() -> None:
    hosts, pages, log = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with log.open("w", buffering=1) as stream:
        uvloop.run(serve(_pages(MadeWeb(hosts, pages)), stream))


if __name__ == "__main__":
    main()

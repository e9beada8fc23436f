"""Serves a made web on loopback from memory, in a process of its own, and writes the time of every request.

    python made_server.py HOSTS PAGES LOG

prints its port when it is ready, and ends when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import TextIO

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from living.made_web import MadeWeb  # the path above

_HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
_HTML = b"text/html; charset=utf-8"


class _Protocol(asyncio.Protocol):
    """One connection; requests have no bodies."""

    def __init__(self, pages: dict[tuple[bytes, bytes], bytes], hosts: frozenset[bytes], log: TextIO) -> None:
        self._pages, self._hosts, self._log, self._buffer = pages, hosts, log, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._transport.write(self._answer(head))  # type: ignore[attr-defined]  # it is a write transport

    def _answer(self, head: bytes) -> bytes:
        path = head.split(b" ", 2)[1]
        host = head.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].partition(b":")[0]
        if path == b"/robots.txt":
            body = b"User-agent: *\nDisallow:\n" if host in self._hosts else b"User-agent: *\nDisallow: /\n"
            return _HEAD % (b"200 OK", b"text/plain", len(body)) + body
        body = self._pages.get((host, path), b"")
        self._log.write(f"{time.time():.3f}\t{host.decode()}\t{path.decode()}\t{200 if body else 404}\n")
        if not body:
            return _HEAD % (b"404 Not Found", b"text/plain", 0)
        return _HEAD % (b"200 OK", _HTML, len(body)) + body


async def _serve(web: MadeWeb, log: TextIO) -> None:
    pages = {
        (web.host(host).encode(), b"/page/%d" % page if page else b"/"): web.page(host, page).encode()
        for host in range(web.hosts)
        for page in range(web.pages)
    }
    hosts = frozenset(host for host, _ in pages)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Protocol(pages, hosts, log), "127.0.0.1", 0, backlog=2_048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, os.read, 0, 1)  # until the bench ends


def main() -> None:
    hosts, pages, log = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    with log.open("w", buffering=1) as stream:
        uvloop.run(_serve(MadeWeb(hosts, pages), stream))


if __name__ == "__main__":
    main()

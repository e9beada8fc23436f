"""Small servers on loopback for the fetch tests; each sends the bytes that the test chooses."""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import uvloop

from periplus.config import Fetching
from periplus.fetch.client import Fetcher
from periplus.fetch.request import user_agent
from periplus.fetch.response_limits import Purpose
from periplus.model import Response

Result = TypeVar("Result")
Reply = Callable[[bytes], AsyncIterator[bytes]]  # from a request to the parts of its answer
AGENT = user_agent("https://example.org/contact")


class Disconnect(Exception):  # noqa: N818
    """Close the connection instead of waiting for the next request."""


class Reset(Exception):  # noqa: N818
    """Reset the connection."""


class Site:
    """A server that records requests and connections."""

    def __init__(self, reply: Reply) -> None:
        self.port = 0
        self.scheme = "http"
        self.requests: list[bytes] = []
        self.connections = 0
        self.connected_now = 0
        self.max_connected = 0
        self.answering = 0
        self.max_answering = 0
        self.tasks: list[asyncio.Task[None]] = []
        self._reply = reply

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.connected_now += 1
        self.max_connected = max(self.max_connected, self.connected_now)
        task = asyncio.ensure_future(self.serve_connection(reader, writer))
        task.add_done_callback(self._disconnected)
        self.tasks.append(task)

    def _disconnected(self, _task: asyncio.Task[None]) -> None:
        self.connected_now -= 1

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await self._answer(await reader.readuntil(b"\r\n\r\n"), writer)
        except Reset:
            writer.transport.abort()
        except (Disconnect, asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        self.requests.append(request)
        self.answering += 1
        self.max_answering = max(self.max_answering, self.answering)
        try:
            async for part in self._reply(request):
                writer.write(part)
                await writer.drain()
        finally:
            self.answering -= 1


class Http2Site(Site):
    """Sends the same small page on every HTTP/2 stream; it parses only the stream number of a request."""

    async def serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readexactly(24)  # the preface
            writer.write(_frame(_SETTINGS))
            while True:
                length, kind, _flags, stream = struct.unpack("!3sBBI", await reader.readexactly(9))
                await reader.readexactly(int.from_bytes(length))
                if kind == _HEADERS:
                    self.requests.append(b"")
                    head = b"\x88" + _field(b"content-type", b"text/html") + _field(b"x-answer", b"42")  # 200
                    writer.write(_frame(_HEADERS, 0x4, stream, head))
                    writer.write(_frame(_DATA, 0x1, stream, b"<p>two"))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


_DATA, _HEADERS, _SETTINGS = 0, 1, 4


def _frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + struct.pack("!BBI", kind, flags, stream) + payload


def _field(name: bytes, value: bytes) -> bytes:
    """A header field that is neither compressed nor indexed (RFC 7541, section 6.2.2)."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


@asynccontextmanager
async def serving(reply: Reply, tls: ssl.SSLContext | None = None, kind: type[Site] = Site) -> AsyncIterator[Site]:
    """Run a site while the block lasts."""
    site = kind(reply)
    server = await asyncio.start_server(site.connected, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    site.scheme = "https" if tls else "http"
    try:
        yield site
    finally:
        server.close()
        for task in site.tasks:
            task.cancel()
        await asyncio.gather(*site.tasks, return_exceptions=True)
        await server.wait_closed()


def replies(*parts: bytes, pause: float = 0.0, then: type[Exception] | None = None) -> Reply:
    """Send the same parts to every request, optionally slowly, optionally with an error at the end."""

    async def reply(_request: bytes) -> AsyncIterator[bytes]:
        for part in parts:
            yield part
            await asyncio.sleep(pause)
        if then is not None:
            raise then

    return reply


def forever(opening: bytes, part: bytes, pause: float = 0.0) -> Reply:
    """Send a response without an end."""

    async def reply(_request: bytes) -> AsyncIterator[bytes]:
        yield opening
        while True:
            yield part
            await asyncio.sleep(pause)

    return reply


def answer(body: bytes = b"", *headers: str, status: str = "200 OK") -> bytes:
    """A well-formed HTTP/1.1 response; a page unless the headers name another type."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *(headers or ("Content-Type: text/html",))]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n" + body


def encoded(body: bytes, encoding: str) -> Reply:
    """Send a page with this Content-Encoding."""
    return replies(answer(body, "Content-Type: text/html", f"Content-Encoding: {encoding}"))


def fetcher(public_allowed: bool = False, **settings: Any) -> Fetcher:
    """A fetcher that may connect to this machine only."""
    return Fetcher(Fetching(**{"allow_private": True, **settings}), AGENT, public_allowed=public_allowed)


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run on uvloop, as in production."""
    return uvloop.run(coroutine)


def fetch_from(reply: Reply, path: str = "/", purpose: Purpose = Purpose.PAGE, **settings: Any) -> Response:
    """Fetch one URL from a site with this reply."""

    async def once() -> Response:
        async with serving(reply) as site, fetcher(**settings) as client:
            return await client.fetch(site.url(path), purpose=purpose)

    return run(once())

"""Serves HTTP/1.1 on one connection."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from .log import Entry, RequestLog
from .message import MalformedRequestError, Request, parse_request
from .page import Page, Sites
from .render import MISDIRECTED, NOT_FOUND, SLICE, Answer, answer
from .writer import Writer

_MAX_HEAD = 64 * 1024
_DRIPS_A_SECOND = 10  # a slow body still moves smoothly


@dataclass(frozen=True)
class Shared:
    """State shared by all connections of a web."""

    sites: Sites
    log: RequestLog
    open: set[HttpProtocol] = field(default_factory=set)
    failures: list[Exception] = field(default_factory=list)  # mistakes of handlers, shown when the web stops

    async def close_all(self) -> None:
        """Drop every connection, like a machine that goes down."""
        connections = list(self.open)
        for connection in connections:
            connection.abort()
        await asyncio.gather(*[connection.lost.wait() for connection in connections])


class HttpProtocol(asyncio.Protocol):
    """HTTP/1.1 without a framework, because a framework would take most of the time of a test."""

    def __init__(self, shared: Shared, scheme: str) -> None:
        self._shared = shared
        self._scheme = scheme
        self._buffer = b""
        self._task: asyncio.Task[None] | None = None  # a slow response; later requests wait for it
        self._writable = asyncio.Event()
        self._writable.set()
        self.lost = asyncio.Event()

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._number = self._shared.log.connect(self._scheme, transport.get_extra_info("sockname")[0])
        self._shared.open.add(self)

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        self._serve_buffered()

    def eof_received(self) -> None:
        # Reported here and not in connection_lost, which comes a little later: a client that closes one
        # connection and then opens the next must not seem to have had two.
        self._gone()

    def connection_lost(self, error: Exception | None) -> None:
        self._gone()
        self._shared.open.discard(self)
        self.lost.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def abort(self) -> None:
        self._transport.abort()

    def _gone(self) -> None:
        self._shared.log.disconnect(self._number)
        if self._task is not None:
            self._task.cancel()

    # One request after the other

    def _serve_buffered(self) -> None:
        while self._task is None and not self._transport.is_closing():
            head, blank, rest = self._buffer.partition(b"\r\n\r\n")
            if not blank:
                if len(head) > _MAX_HEAD:
                    self._refuse(431)
                return
            self._buffer = rest
            try:
                request = parse_request(head, self._scheme, self._number)
            except MalformedRequestError:
                self._refuse(400)
            else:
                self._serve(request)

    def _serve(self, request: Request) -> None:
        entry = self._shared.log.begin(request)
        try:
            page = self._find(request)
            if _takes_time(page):
                self._task = asyncio.get_running_loop().create_task(self._perform(entry, page))
                return
            reply = answer(page, request)
        except Exception as failure:  # a page function or a description is wrong: reported to the test
            self._fail(entry, failure)
            return
        if len(reply.body) > SLICE:
            self._task = asyncio.get_running_loop().create_task(self._perform(entry, page))
            return
        # Logged first: a client that has read the response must find its log entry finished.
        self._shared.log.finish(entry, reply.status, complete=True)
        self._transport.write(reply.head + b"".join(reply.pieces(SLICE)))
        if not request.keep_alive:
            self._transport.close()

    def _find(self, request: Request) -> Page:
        if request.method not in ("GET", "HEAD"):
            return Page(title="Method not allowed", status=405, headers={"Allow": "GET, HEAD"})
        site = self._shared.sites.find(request.scheme, request.authority, request.host)
        if site is None:
            return MISDIRECTED
        return site.page(request.path) or NOT_FOUND

    def _refuse(self, status: int) -> None:
        request = Request("", "", "", {}, self._scheme, self._number, keep_alive=False)
        entry = self._shared.log.begin(request)
        self._shared.log.finish(entry, status, complete=True)
        self._transport.write(answer(Page(title="Refused", status=status), request).head)
        self._transport.close()

    # Slow responses

    async def _perform(self, entry: Entry, page: Page) -> None:
        writer = Writer(self._transport, self._writable)
        keep_alive = False
        try:
            keep_alive = await self._answer_slowly(entry, page, writer)
        except asyncio.CancelledError:
            self._shared.log.finish(entry, writer.status, complete=False)
            raise
        except Exception as failure:
            self._fail(entry, failure)
        self._task = None
        if keep_alive:
            self._serve_buffered()
        else:
            self._transport.close()

    async def _answer_slowly(self, entry: Entry, page: Page, writer: Writer) -> bool:
        """Respond; returns whether the connection can be reused."""
        if page.handler is not None:
            chosen = await page.handler(entry.request, writer)
            if chosen is not None:
                return await self._answer_slowly(entry, chosen, writer)
            self._shared.log.finish(entry, writer.status, complete=not self._transport.is_closing())
            return False
        if page.delay:
            await asyncio.sleep(page.delay)
        await self._send(entry, answer(page, entry.request), page.drip, writer)
        return entry.request.keep_alive

    async def _send(self, entry: Entry, reply: Answer, drip: int, writer: Writer) -> None:
        """Write piece by piece, one behind, so that the log is finished before the client has it all."""
        waiting = reply.head
        step = min(SLICE, max(1, drip // _DRIPS_A_SECOND)) if drip else SLICE
        for piece in reply.pieces(step):
            await writer.send(waiting)
            if drip:
                await asyncio.sleep(len(piece) / drip)
            waiting = piece
        self._shared.log.finish(entry, reply.status, complete=True)
        await writer.send(waiting)

    def _fail(self, entry: Entry, failure: Exception) -> None:
        self._shared.failures.append(failure)
        self._shared.log.finish(entry, 0, complete=False)
        self._transport.abort()


def _takes_time(page: Page) -> bool:
    return page.handler is not None or bool(page.delay or page.drip) or page.size > SLICE

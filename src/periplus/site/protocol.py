"""How much may a client say, and how slowly, before it has asked for anything?

The server library reads request lines and headers without end; this bounds both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEAD_BYTES = 65_536
HEAD_SECONDS = 15.0
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with a limit on the size of a request's head and on the time it takes to arrive."""

    _cycles: Sequence[RequestResponseCycle] = ()  # requests that are not answered yet
    _in_head = True
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the library
        """The clock starts with the connection."""
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Count what belongs to a head; the library does the rest."""
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.transport.write(_TOO_LARGE)
                self.transport.close()
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """The first bytes of a request: from now on its head must come quickly."""
        super().on_message_begin()
        self._start_clock()

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._stop_clock()
        self._in_head = False
        super().on_headers_complete()
        self._cycles = [cycle for cycle in self._cycles if not cycle.response_complete] + [self.cycle]

    def on_message_complete(self) -> None:
        """Whatever comes next belongs to another request."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every request of this connection. The library tells only the last one of several sent at once."""
        self._stop_clock()
        for cycle in self._cycles:
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        self._stop_clock()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

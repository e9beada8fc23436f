"""Limits the size of a request head and the time it may take to arrive; sends the head of a response with its body.

uvicorn itself has no such limits, and writes the head alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

STOPPING = "periplus.stopping"  # the key of the scope with the event that is set when the server stops
HEAD_BYTES = 65_536
HEAD_SECONDS = 15.0
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with limits on the size (64 KiB) and duration (15 seconds) of a request head."""

    _cycles: Sequence[RequestResponseCycle] = ()  # requests without a complete response
    _in_head = True
    _head_bytes = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in the library
        """Starts the timer for the first request head."""
        super().connection_made(transport)
        self._stopping = asyncio.Event()
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Counts the bytes of the head; answers 431 and closes the connection when there are too many.

        A body may arrive together with its head. So only as many bytes as a head may have are parsed first.
        """
        if not self._in_head:
            super().data_received(data)
            return
        room = HEAD_BYTES - self._head_bytes
        head, rest = data[:room], data[room:]
        self._head_bytes += len(head)
        super().data_received(head)
        if not rest or self.transport.is_closing():
            return
        if self._head_bytes >= HEAD_BYTES:
            self.transport.write(_TOO_LARGE)
            self.transport.close()
        else:
            self.data_received(rest)

    def on_message_begin(self) -> None:
        """Starts the timer when the first bytes of a request arrive."""
        super().on_message_begin()
        self._start_timer()

    def on_headers_complete(self) -> None:
        """Stops the timer; the head is complete."""
        self._stop_timer()
        self._in_head, self._head_bytes = False, 0
        super().on_headers_complete()
        self.cycle.scope[STOPPING] = self._stopping  # type: ignore[literal-required]  # our own key
        self.cycle.transport = HeadWithBody(self.transport, self.loop)  # type: ignore[assignment]  # has all that is called
        self._cycles = [cycle for cycle in self._cycles if not cycle.response_complete] + [self.cycle]

    def on_message_complete(self) -> None:
        """Starts to count the head of the next request."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_complete()

    def shutdown(self) -> None:
        """Tells responses without an end, such as event streams, that the server stops."""
        self._stopping.set()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notifies every request of this connection; uvicorn notifies only the last of several pipelined requests."""
        self._stop_timer()
        for cycle in self._cycles:
            cycle.disconnected = not cycle.response_complete
            cycle.message_event.set()
        super().connection_lost(exc)

    def _start_timer(self) -> None:
        self._stop_timer()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class HeadWithBody:
    """The transport of one response: its head is sent with the first part of its body.

    Every write is a packet, which wakes the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head: bytes | None = None  # None: not written; empty: sent

    def write(self, data: bytes) -> None:
        """Send some bytes; the first ones at the latest when the application waits for something."""
        if self._head is None:
            self._head = data
            self._loop.call_soon(self._flush)
        elif self._head:
            parts, self._head = [self._head, data], b""
            self._transport.writelines(parts)
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Send everything, and close the connection."""
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection is closed, or will be."""
        return self._transport.is_closing()

    def _flush(self) -> None:
        if self._head and not self.is_closing():
            self._transport.write(self._head)
        self._head = b""

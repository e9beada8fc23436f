"""Sends raw bytes to the client."""

from __future__ import annotations

import asyncio
import socket
import struct

_LINGER_ZERO = struct.pack("ii", 1, 0)  # closing then sends RST instead of FIN


class Writer:
    """Writes one response; handlers use it."""

    def __init__(self, transport: asyncio.Transport, writable: asyncio.Event) -> None:
        self._transport = transport
        self._writable = writable
        self.status = 0  # taken from the first bytes written, if they are a status line
        self.sent = 0  # bytes handed over so far

    async def send(self, data: bytes) -> None:
        """Write bytes, and wait while the client is slower than the server."""
        if self.sent == 0 and data.startswith(b"HTTP/1.") and data[9:12].isdigit():
            self.status = int(data[9:12])
        self.sent += len(data)
        self._transport.write(data)
        await asyncio.sleep(0)  # a handler that never stops must let others have their turn, and be cancelled
        await self._writable.wait()

    def reset(self) -> None:
        """Reset the connection; the client sees "connection reset by peer"."""
        peer = self._transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._transport.abort()

"""Hostile server behaviour, as handlers for Page(handler=...)."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa

from .message import Request
from .page import Handler, Page
from .writer import Writer

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_BOMB = 1 << 26  # bytes
_FILLER = b"<p>and on it goes</p>\n" * 2979  # just under 64 KiB


async def reset(request: Request, writer: Writer) -> None:
    """Reset the connection instead of responding."""
    writer.reset()


async def hang_up(request: Request, writer: Writer) -> None:
    """Close the connection without sending a byte."""


async def silence(request: Request, writer: Writer) -> None:
    """Accept the request and never respond."""
    await asyncio.Event().wait()


async def not_http(request: Request, writer: Writer) -> None:
    """Respond with another protocol than HTTP."""
    await writer.send(b"SSH-2.0-OpenSSH_9.6\r\n\x00\xff\r\n\r\n")


async def reset_midway(request: Request, writer: Writer) -> None:
    """Announce 1 MB, send a part, reset the connection."""
    await writer.send(_OK + b"Content-Length: 1000000\r\n\r\n" + _FILLER[:1000])
    await asyncio.sleep(0.02)  # otherwise the reset would arrive before the bytes
    writer.reset()


async def short_body(request: Request, writer: Writer) -> None:
    """Send less than Content-Length says, then close."""
    await writer.send(_OK + b"Content-Length: 1000000\r\n\r\n" + _FILLER[:1000])


async def long_body(request: Request, writer: Writer) -> None:
    """Send more than Content-Length says."""
    await writer.send(_OK + b"Content-Length: 10\r\n\r\n" + _FILLER)


async def false_chunk(request: Request, writer: Writer) -> None:
    """Announce a chunk of 4 GB and send one of 1,000 bytes."""
    await writer.send(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    await writer.send(b"ffffffff\r\n" + _FILLER[:1000] + b"\r\n0\r\n\r\n")


async def endless_body(request: Request, writer: Writer) -> None:
    """Send without end, as fast as the client reads."""
    await writer.send(_OK + b"\r\n")
    while True:
        await writer.send(_FILLER)


async def endless_headers(request: Request, writer: Writer) -> None:
    """Send headers without end."""
    await writer.send(_OK)
    while True:
        await writer.send(b"X-Filler: and on it goes\r\n" * 100)


async def gzip_bomb(request: Request, writer: Writer) -> None:
    """Send a gzip stream of zeros without end: each kB becomes a MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    zeros = bytes(1 << 20)
    first = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    await writer.send(_OK + b"Content-Encoding: gzip\r\n\r\n" + first)
    megabyte = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)  # complete in itself: can be repeated
    while True:
        await writer.send(megabyte)


async def brotli_bomb(request: Request, writer: Writer) -> None:
    """Send 64 MB of zeros in some hundred bytes."""
    await _send_packed(writer, "br", _packed("brotli"))


async def zstd_bomb(request: Request, writer: Writer) -> None:
    """Send 64 MB of zeros in an encoding that the client may not accept."""
    await _send_packed(writer, "zstd", _packed("zstd"))


async def double_bomb(request: Request, writer: Writer) -> None:
    """Send 64 MB of zeros, packed twice."""
    await _send_packed(writer, "gzip, gzip", gzip.compress(gzip.compress(bytes(_BOMB), 9), 9))


async def false_gzip(request: Request, writer: Writer) -> None:
    """Send plain text as gzip."""
    await _send_packed(writer, "gzip", _FILLER[:500])


async def drip(request: Request, writer: Writer) -> None:
    """Send a byte now and then, without end."""
    await writer.send(_OK + b"\r\n")
    while True:
        await writer.send(b"x")
        await asyncio.sleep(0.2)


async def slow_headers(request: Request, writer: Writer) -> None:
    """Send a header now and then, without end."""
    for byte in _OK + b"X-Slow: " + b"x" * 1000:
        await writer.send(bytes([byte]))
        await asyncio.sleep(0.2)


async def endless_interim(request: Request, writer: Writer) -> None:
    """Send interim responses without end."""
    while True:
        await writer.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 100)


async def endless_chunks(request: Request, writer: Writer) -> None:
    """Never send the last chunk."""
    await writer.send(_OK + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        await writer.send(b"%x\r\n%b\r\n" % (len(_FILLER), _FILLER))


def raw(answer: bytes) -> Handler:
    """Send exactly these bytes, and close the connection."""

    async def say(request: Request, writer: Writer) -> None:
        await writer.send(answer)

    return say


async def _send_packed(writer: Writer, encoding: str, body: bytes) -> None:
    await writer.send(_OK + f"Content-Encoding: {encoding}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


@lru_cache
def _packed(codec: str) -> bytes:
    return bytes(pa.compress(bytes(_BOMB), codec=codec, asbytes=True))


def held_until(ready: Callable[[], bool], page: Page, patience: float = 20.0) -> Handler:
    """Respond as soon as *ready* holds, at the latest after *patience* seconds."""

    async def answer_late(request: Request, writer: Writer) -> Page:
        for _ in range(int(patience / 0.01)):
            if ready():
                break
            await asyncio.sleep(0.01)
        return page

    return answer_late


def in_turn(*pages: Page) -> Handler:
    """Respond with the pages in this order, one per request, then always with the last: a server that recovers."""
    left = list(pages)

    async def answer_next(request: Request, writer: Writer) -> Page:
        return left.pop(0) if len(left) > 1 else left[0]

    return answer_next

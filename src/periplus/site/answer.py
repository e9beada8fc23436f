"""A complete response, sent in the encoding that the client accepts, or as 304 when the client has it already."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import xxhash
from starlette.types import Send

from periplus.site.content_encoding import COMPRESSORS, is_compressible, unzstd, zstd

Headers = list[tuple[bytes, bytes]]
_VARY = (b"vary", b"accept-encoding")
_FROM_MEMORY = (b"server-timing", b'cache;desc="memory"')
_NOT_STORED = frozenset({b"content-length", b"server-timing", b"etag"})
_NOT_IN_304 = frozenset({b"content-length", b"content-type", b"content-encoding"})
_THREAD_BYTES = 1 << 18  # a larger body is compressed in a thread, so that other requests go on
_ENTRY_BYTES = 1_000  # of the objects around a stored body, approximately
_SUFFIX = {"": b"", "zstd": b"-zstd", "gzip": b"-gzip"}  # an ETag names one encoding


def entity_tag(*parts: str | bytes) -> bytes:
    """The ETag of an answer that depends on these parts only; without quotes."""
    digest = xxhash.xxh3_128()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest().encode()


def quoted(tag: bytes, encoding: str = "") -> bytes:
    """The ETag as a header has it."""
    return b'"' + tag + _SUFFIX[encoding] + b'"'


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the client accepts, and what it has."""

    encoding: str  # zstd, gzip or empty
    known_tags: bytes  # the If-None-Match header

    def known(self, tag: bytes) -> bytes:
        """The ETag that the client has of this answer, with quotes; empty if it has none."""
        if not self.known_tags:
            return b""
        tags = (quoted(tag, self.encoding), quoted(tag))
        return next((one for one in tags if one in self.known_tags), b"")


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A response with status 200, compressed to save memory."""

    tag: bytes
    headers: Headers
    body: bytes  # compressed, unless `size` is 0
    size: int  # bytes of the body before its compression

    @classmethod
    def of(cls, tag: bytes, headers: Headers, body: bytes) -> StoredAnswer:
        """Compresses a response."""
        kept = [pair for pair in headers if pair[0] not in _NOT_STORED] + [_FROM_MEMORY]
        if not is_compressible(_media_type(headers), len(body)):
            return cls(tag, kept, body, 0)
        return cls(tag, [*kept, _VARY], zstd(body), len(body))

    @property
    def memory(self) -> int:
        """Bytes of memory, approximately."""
        return len(self.body) + _ENTRY_BYTES

    async def send(self, send: Send, encoding: str) -> None:
        """Sends the response."""
        body, used = self.body, encoding if self.size else ""
        if self.size and used != "zstd":
            body = unzstd(body, self.size)
            body = COMPRESSORS[used](body) if used else body
        await send_answer(send, 200, [*self.headers, (b"etag", quoted(self.tag, used))], body, used)


async def send_answer(send: Send, status: int, headers: Headers, body: bytes, encoding: str = "") -> None:
    """Sends a body that has this encoding; *headers* are without its length and encoding."""
    added: Headers = [(b"content-length", b"%d" % len(body))]
    if encoding:
        added.append((b"content-encoding", encoding.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers + added})
    await send({"type": "http.response.body", "body": body})


async def send_compressed(send: Send, status: int, headers: Headers, body: bytes, encoding: str) -> None:
    """Compresses the body if that makes it smaller, and sends it; an ETag gets the suffix of the encoding."""
    kept = [pair for pair in headers if pair[0] != b"content-length"]
    if any(name == b"content-encoding" for name, _ in headers) or not is_compressible(_media_type(headers), len(body)):
        await send_answer(send, status, kept, body)
        return
    if encoding:
        compress = COMPRESSORS[encoding]
        body = await asyncio.to_thread(compress, body) if len(body) > _THREAD_BYTES else compress(body)
        kept = [(name, quoted(value[1:-1], encoding) if name == b"etag" else value) for name, value in kept]
    await send_answer(send, status, [*kept, _VARY], body, encoding)


async def send_not_modified(send: Send, headers: Headers, tag: bytes) -> None:
    """Sends a 304; *tag* with quotes."""
    kept = [pair for pair in headers if pair[0] not in _NOT_IN_304 and pair[0] != b"etag"]
    await send({"type": "http.response.start", "status": 304, "headers": [*kept, (b"etag", tag)]})
    await send({"type": "http.response.body", "body": b""})


def _media_type(headers: Headers) -> bytes:
    return next((value for name, value in headers if name == b"content-type"), b"")

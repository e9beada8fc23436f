"""Sends responses: from memory if possible, compressed, and as 304 when the client has the current version.

A response of a *versioned* path depends on its path, its query string and the version of the content only. The version
may differ between readers: the owner of a collection sees what nobody else sees. So the ETag of a response is known
before the handler runs, and the response can be stored. When several clients send the same request at once, it is
computed once. A request with a cookie may get another answer; it is neither answered from memory nor stored. Every
other page gets an ETag from its content.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from periplus.site.answer import (
    Headers,
    StoredAnswer,
    Wanted,
    entity_tag,
    quoted,
    send_compressed,
    send_not_modified,
)
from periplus.site.content_encoding import chosen_encoding

_LARGEST_SHARE = 16  # a stored answer takes at most 1/16 of the memory
_READING = frozenset({"GET", "HEAD"})
_PRIVATE = [(b"cache-control", b"private, no-cache")]
_Key = tuple[str, str, bytes]


@dataclass(frozen=True, slots=True)
class Versioned:
    """Paths whose responses depend on the query string and the version of the content only."""

    paths: Collection[str]
    version: Callable[[], str]  # empty: not known, nothing is stored
    variant: Callable[[Scope], str] = lambda _: ""  # of the content for the reader who sends this request

    def of(self, scope: Scope) -> str:
        """The version of the content for one request; empty: not known."""
        version = self.version() if scope["path"] in self.paths else ""
        return version and version + self.variant(scope)


class AnswerCache:
    """Answers in memory; when they exceed the limit, the least recently used are removed."""

    def __init__(self, limit: int) -> None:
        """*limit* in bytes."""
        self._limit, self._used = limit, 0
        self._answers: OrderedDict[_Key, StoredAnswer] = OrderedDict()

    def get(self, key: _Key) -> StoredAnswer | None:
        """The stored answer."""
        found = self._answers.get(key)
        if found is not None:
            self._answers.move_to_end(key)
        return found

    def put(self, key: _Key, answer: StoredAnswer) -> None:
        """Stores an answer, unless it is too large."""
        if answer.memory * _LARGEST_SHARE > self._limit or key in self._answers:
            return
        self._answers[key] = answer
        self._used += answer.memory + len(key[2])
        while self._used > self._limit:
            old, removed = self._answers.popitem(last=False)
            self._used -= removed.memory + len(old[2])


class Delivery:
    """ASGI middleware around a whole site."""

    def __init__(
        self, app: ASGIApp, versioned: Versioned, memory: int, on_hit: Callable[[], None] = lambda: None
    ) -> None:
        """*memory* in bytes, for stored answers; *on_hit* is called for every answer from memory."""
        self._app, self._versioned, self._on_hit = app, versioned, on_hit
        self._cache, self._stores = AnswerCache(memory), memory > 0
        self._running: dict[_Key, asyncio.Event] = {}  # answers that are being computed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or scope["method"] not in _READING:
            await self._app(scope, receive, send)
            return
        wanted, has_cookie = _read_headers(scope["headers"])
        version = "" if has_cookie else self._versioned.of(scope)
        if not version:
            await self._app(scope, receive, _Reply(send, wanted))
            return
        key = (version, scope["path"], scope["query_string"])
        stored = self._cache.get(key)
        tag = stored.tag if stored else entity_tag(*key)
        if known := wanted.known(tag):
            await send_not_modified(send, stored.headers if stored else _PRIVATE, known)
        elif stored:
            self._on_hit()
            await stored.send(send, wanted.encoding)
        elif answer := await self._awaited(key):
            self._on_hit()
            await answer.send(send, wanted.encoding)
        else:
            await self._compute(key, _Reply(send, wanted, tag), scope, receive)

    async def _awaited(self, key: _Key) -> StoredAnswer | None:
        """Waits while another request computes the same answer; None when this request must compute it."""
        while (running := self._running.get(key)) is not None:
            await running.wait()
            if answer := self._cache.get(key):
                return answer
        return None

    async def _compute(self, key: _Key, reply: _Reply, scope: Scope, receive: Receive) -> None:
        done = asyncio.Event()
        if self._stores:
            self._running[key] = done
        try:
            await self._app(scope, receive, reply)
            self._store(key, reply, scope)
        finally:
            self._running.pop(key, None)
            done.set()

    def _store(self, key: _Key, reply: _Reply, scope: Scope) -> None:
        # A new version may have become current meanwhile; the answer may be of either.
        if reply.is_storable and self._versioned.of(scope) == key[0]:
            self._cache.put(key, StoredAnswer.of(reply.tag, reply.headers, reply.body))


class _Reply:
    """Holds a response back until its body is complete; a body in several parts is sent as it comes."""

    def __init__(self, send: Send, wanted: Wanted, tag: bytes = b"") -> None:
        self._send, self._wanted, self.tag = send, wanted, tag
        self._start: Message | None = None
        self.headers: Headers = []
        self.body = b""
        self.is_storable = False

    async def __call__(self, message: Message) -> None:
        """Takes one message of the application."""
        if message["type"] == "http.response.start":
            self._start = message
        elif self._start is None:
            await self._send(message)
        elif message.get("more_body"):
            start, self._start = self._start, None
            await self._send(start)
            await self._send(message)
        else:
            start, self._start = self._start, None
            await self._answer(start, message.get("body", b""))

    async def _answer(self, start: Message, body: bytes) -> None:
        headers: Headers = list(start["headers"])
        if start["status"] != 200:
            await send_compressed(self._send, start["status"], headers, body, self._wanted.encoding)
            return
        named = dict(headers)
        if b"etag" not in named and b"no-store" not in named.get(b"cache-control", b""):
            tag = self.tag or entity_tag(body)
            headers.append((b"etag", quoted(tag)))
            self.is_storable = bool(self.tag) and b"set-cookie" not in named
            self.headers, self.body = headers, body
        own = dict(headers).get(b"etag", b"")
        if known := self._wanted.known(own[1:-1]) if own else b"":
            await send_not_modified(self._send, headers, known)
        else:
            await send_compressed(self._send, 200, headers, body, self._wanted.encoding)


def _read_headers(headers: Any) -> tuple[Wanted, bool]:
    """What the client wants, and whether the request has a cookie."""
    accept = known = b""
    has_cookie = False
    for name, value in headers:
        if name == b"accept-encoding":
            accept = value
        elif name == b"if-none-match":
            known = value
        elif name == b"cookie":
            has_cookie = True
    return Wanted(chosen_encoding(accept), known), has_cookie

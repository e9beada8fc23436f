"""How are bytes fetched, politely?"""

from __future__ import annotations

import asyncio
import re
import resource
import time
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

import pycurl

from periplus.config.settings import Fetching
from periplus.fetch.allowance import Allowances, Purpose
from periplus.fetch.exchange import Exchange
from periplus.fetch.options import ACCEPT, accept_encoding, constant_options
from periplus.model import Reason, Response
from periplus.url import host_of

_ADDRESS = re.compile(r"https?://([!-\"$-.0->A-~]+)(/[!-\"$-~]*)")  # as the frontier writes them: host, then path
_IDLE_PER_REQUEST = 16  # connections kept for each one in use: a polite crawl comes back to a host only after its delay


class Fetcher:
    """Fetches one URL after the other: at most `concurrency` at once, and never two from one host."""

    def __init__(self, settings: Fetching, user_agent: str, *, public_allowed: bool) -> None:
        """Without *public_allowed* only private addresses are dialled, and those only if the settings allow it."""
        self._settings = settings
        self._public_allowed = public_allowed
        self._allowances = Allowances(settings)
        self._options = constant_options(settings, user_agent)
        self._same_headers = f"User-Agent: {user_agent}\r\nAccept-Encoding: {accept_encoding()}\r\nAccept: {ACCEPT}\r\n"
        self._idle: list[Exchange] = []
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()  # by host, while one is wanted

    async def __aenter__(self) -> Self:
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, _connections_kept(self._settings.concurrency))
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        await self._multi.aclose()
        while self._idle:
            self._idle.pop().curl.close()

    async def fetch(
        self, url: str, *, purpose: Purpose = Purpose.PAGE, etag: str = "", last_modified: str = ""
    ) -> Response:
        """What the server answers to a GET of this canonical address; failures are answers too, with their reason.

        *etag* and *last_modified* are those of an earlier answer: status 304 then says that nothing has changed.
        """
        parts = _ADDRESS.fullmatch(url)
        if parts is None:
            return Response(url, time.time(), failure=Reason.NOT_WEB, detail="not the canonical form of a web address")
        conditions = _conditions(etag, last_modified)
        lines = "".join(f"{line}\r\n" for line in conditions)
        request = f"GET {parts[2]} HTTP/1.1\r\nHost: {parts[1]}\r\n{self._same_headers}{lines}\r\n"
        async with self._turn(host_of(url)), self._slots:
            return await self._ask(url, purpose, conditions, request.encode("ascii"))

    def _turn(self, host: str) -> asyncio.Lock:
        """Held while the host is asked; libcurl's own limit would take all hosts behind one `connect_to` for one."""
        turn = self._turns.get(host)
        if turn is None:
            turn = self._turns[host] = asyncio.Lock()
        return turn

    async def _ask(self, url: str, purpose: Purpose, conditions: list[str], request: bytes) -> Response:
        exchange = self._idle.pop() if self._idle else self._exchange()
        exchange.begin(url, purpose)
        if conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, [*self._options[pycurl.HTTPHEADER], *conditions])
        fetched_at, error = time.time(), None
        try:
            await self._multi.add_handle(exchange.curl)
        except pycurl.error as failed:
            error = failed
        # A cancelled fetch does not come here: its handle may still be in use and is left to the garbage collector.
        if conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, self._options[pycurl.HTTPHEADER])
        response = exchange.finish(fetched_at, request, error)
        self._idle.append(exchange)
        return response

    def _exchange(self) -> Exchange:
        return Exchange(self._settings, self._allowances, self._options, self._public_allowed)


def _conditions(etag: str, last_modified: str) -> list[str]:
    """Header lines that ask for the page only if it has changed; what a server sent is not trusted to be a header."""
    pairs = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return [f"{name}: {value}" for name, value in pairs if value and value.isascii() and value.isprintable()]


def _connections_kept(concurrency: int) -> int:
    """How many open connections wait for their next use; at least half of the file descriptors are left to others."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(concurrency, min(_IDLE_PER_REQUEST * concurrency, descriptors // 2))

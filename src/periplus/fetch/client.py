"""How are bytes fetched, politely?"""

from __future__ import annotations

import asyncio
import re
import resource
import time
from collections.abc import Iterable
from functools import partial
from types import TracebackType
from typing import Self
from weakref import WeakValueDictionary

import pycurl

from periplus.config.settings import Fetching, Politeness
from periplus.fetch.addresses import AddressTable
from periplus.fetch.allowance import Allowances, Purpose
from periplus.fetch.connections import Connections, Passage
from periplus.fetch.exchange import Exchange
from periplus.fetch.options import ACCEPT, accept_encoding, constant_options
from periplus.fetch.resolver import Resolver
from periplus.fetch.routes import Routes
from periplus.model import Reason, Response

# As the frontier writes them: scheme, host, port, path.
_ADDRESS = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[!-\"$-.0-9;->A-~]+)(?::(\d{1,9}))?(/[!-\"$-~]*)")
_PORTS = {"http": 80, "https": 443}
_IDLE_PER_REQUEST = 16  # connections kept for each one in use: a polite crawl comes back to a host only after its delay
_MOST_ADDRESSES = 3  # of one host that are tried, when the first ones do not answer
_UNANSWERED = frozenset({Reason.CONNECT, Reason.TIMEOUT})


class Fetcher:
    """Fetches one URL after the other: at most `concurrency` at once, and never two from one host."""

    def __init__(
        self,
        settings: Fetching,
        user_agent: str,
        *,
        public_allowed: bool,
        addresses: AddressTable | None = None,
        worker: int = 0,
    ) -> None:
        """Without *public_allowed* only private addresses are dialled, and those only if the settings allow it.

        *addresses* is shared with the fetchers of other workers.
        """
        self._settings = settings
        self._resolver = Resolver(settings.connect_timeout)
        self._routes = Routes(settings, self._resolver, public_allowed=public_allowed)
        self._connections = Connections(
            addresses or AddressTable(Politeness()),
            worker,
            patience=settings.connect_timeout + 1.0,
            most=_connections_kept(settings.concurrency),
        )
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
        self._connections.forget()
        self._resolver.close()

    async def fetch(
        self, url: str, *, purpose: Purpose = Purpose.PAGE, etag: str = "", last_modified: str = ""
    ) -> Response:
        """What the server answers to a GET of this canonical address; failures are answers too, with their reason.

        *etag* and *last_modified* are those of an earlier answer: status 304 then says that nothing has changed.
        Raises `AddressBusy`, and sends nothing, when enough is asked of the server's address already.
        """
        parts = _ADDRESS.fullmatch(url)
        if parts is None:
            return Response(url, time.time(), failure=Reason.NOT_WEB, detail="not the canonical form of a web address")
        conditions = _conditions(etag, last_modified)
        lines = "".join(f"{line}\r\n" for line in conditions)
        scheme, host, port, path = parts.groups()
        authority = f"{host}:{port}" if port else host
        request = f"GET {path} HTTP/1.1\r\nHost: {authority}\r\n{self._same_headers}{lines}\r\n".encode("ascii")
        async with self._turn(host), self._slots:
            route = await self._routes.find(host, int(port or _PORTS[scheme]))
            response = Response(url, time.time(), failure=route.failure, detail=route.detail)
            for address in route.addresses[:_MOST_ADDRESSES]:
                passage = self._connections.enter(host, f"{scheme}://{authority}", address)
                place = (
                    f"[{passage.address}]:{route.port}" if ":" in passage.address else f"{passage.address}:{route.port}"
                )
                response = await self._ask(url, purpose, passage, place, conditions, request)
                if response.failure not in _UNANSWERED or response.ip:
                    break
                self._routes.avoid(route, address)
            return response

    def hang_up(self, hosts: Iterable[str]) -> None:
        """Close the connections to hosts that another worker asks from now on."""
        for host in hosts:
            self._connections.hang_up(host)

    def _turn(self, host: str) -> asyncio.Lock:
        """Held while the host is asked; libcurl's own limit would take all hosts at one address for one."""
        turn = self._turns.get(host)
        if turn is None:
            turn = self._turns[host] = asyncio.Lock()
        return turn

    async def _ask(
        self, url: str, purpose: Purpose, passage: Passage, place: str, conditions: list[str], request: bytes
    ) -> Response:
        exchange = self._idle.pop() if self._idle else self._exchange()
        sent = partial(self._connections.sent, passage) if passage.rule else None
        exchange.begin(url, purpose, place, keep=passage.keep, sent=sent)
        if conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, [*self._options[pycurl.HTTPHEADER], *conditions])
        fetched_at, error = time.time(), None
        try:
            await self._multi.add_handle(exchange.curl)
        except pycurl.error as failed:
            error = failed
        except asyncio.CancelledError:
            # The handle may still be in use and is left to the garbage collector.
            self._connections.leave(passage, None, broken=True)
            raise
        self._connections.leave(passage, exchange.connection, broken=error is not None)
        if conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, self._options[pycurl.HTTPHEADER])
        response = exchange.finish(fetched_at, request, error)
        self._idle.append(exchange)
        return response

    def _exchange(self) -> Exchange:
        return Exchange(self._settings, self._allowances, self._options, self._routes.refusal)


def _conditions(etag: str, last_modified: str) -> list[str]:
    """Header lines that ask for the page only if it has changed; what a server sent is not trusted to be a header."""
    pairs = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return [f"{name}: {value}" for name, value in pairs if value and value.isascii() and value.isprintable()]


def _connections_kept(concurrency: int) -> int:
    """How many open connections wait for their next use; at least half of the file descriptors are left to others."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(concurrency, min(_IDLE_PER_REQUEST * concurrency, descriptors // 2))

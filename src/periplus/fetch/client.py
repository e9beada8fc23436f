"""How are bytes fetched, politely?

Whose turn is it to ask?
"""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self

import pycurl

from periplus.config.settings import Fetching, Politeness
from periplus.fetch.connections import Connections
from periplus.fetch.exchange import Exchange
from periplus.fetch.failure import BAD_CERTIFICATES
from periplus.fetch.ip_limits import AddressTable
from periplus.fetch.memory_budget import MemoryBudget
from periplus.fetch.multi import CurlMulti
from periplus.fetch.request import HttpRequest, RequestBuilder, constant_options
from periplus.fetch.resolver import Resolver
from periplus.fetch.response_limits import Purpose, ResponseLimits
from periplus.fetch.routes import Routes
from periplus.model import Reason, Response


class HostTurns:
    """At most one request to a host at a time, and a limited number together."""

    def __init__(self, together: int) -> None:
        self._together = together
        self._taken: dict[str, asyncio.Future[None]] = {}  # by host; ends with its turn

    async def take(self, host: str) -> None:
        """Wait for the turn of a host; it lasts until `leave`. Nobody waits as long as nobody asks too much."""
        while host in self._taken or len(self._taken) >= self._together:
            before = [self._taken[host]] if host in self._taken else self._taken.values()
            await asyncio.wait(before, return_when=asyncio.FIRST_COMPLETED)
        self._taken[host] = asyncio.get_running_loop().create_future()

    def leave(self, host: str) -> None:
        """The turn of a host is over."""
        self._taken.pop(host).set_result(None)


_IDLE_PER_REQUEST = 16  # connections kept for each one in use: a polite crawl comes back to a host only after its delay
_MOST_ADDRESSES = 3  # of one host that are tried, when the first ones do not answer
_UNANSWERED = frozenset({Reason.CONNECT, Reason.TIMEOUT})
_WORTH_TELLING = 0.001  # seconds
_DOUBTS = 10_000  # origins whose certificates are remembered as bad


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
        now: Callable[[], float] = time.time,
    ) -> None:
        """Without *public_allowed* only private addresses are dialled, and those only if the settings allow it.

        *addresses* is shared with the fetchers of other workers; *now* says when a request was made.
        """
        self._settings, self._now = settings, now
        self._resolver = Resolver(settings.connect_timeout)
        self._routes = Routes(settings, self._resolver, public_allowed=public_allowed)
        self._connections = Connections(
            addresses or AddressTable(Politeness()),
            worker,
            patience=settings.connect_timeout + 1.0,
            most=_connections_kept(settings.concurrency),
        )
        self._allowances, self._hold = ResponseLimits(settings), MemoryBudget(settings.large_bytes)
        self._options = constant_options(settings, user_agent)
        self._questions = RequestBuilder(user_agent)
        self._doubts: dict[str, str] = {}  # by origin: what is wrong with its certificate
        self._idle: list[Exchange] = []
        self._turns = HostTurns(settings.concurrency)  # libcurl's own limit would take all hosts at one address for one

    async def __aenter__(self) -> Self:
        self._transfers = CurlMulti(_connections_kept(self._settings.concurrency))
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._transfers.close()
        while self._idle:
            self._idle.pop().curl.close()
        self._connections.forget()
        self._resolver.close()

    async def fetch(
        self, url: str, *, purpose: Purpose = Purpose.PAGE, etag: str = "", last_modified: str = ""
    ) -> Response:
        """What the server answers to a GET of this canonical address; failures are answers too, with their reason.

        *etag* and *last_modified* are those of an earlier answer: status 304 then says that nothing has changed.
        Raises `AddressBusy`, and sends nothing, when enough is asked of the server's address already; likewise
        `LookupPending` while the lookup of a name takes long. The body may have to be waited for until other large ones
        are done with: see `unload`.
        """
        question = self._questions.about(url, purpose, etag, last_modified)
        if question is None:
            return Response(url, self._now(), failure=Reason.NOT_WEB, detail="not the canonical form of a web address")
        await self._turns.take(question.host)
        try:
            return await self._answer(question)
        finally:
            self._turns.leave(question.host)

    def unload(self, host: str) -> None:
        """What a host has answered, or would have, is needed no longer."""
        self._hold.leave(host)

    @property
    def connected(self) -> list[str]:
        """Hosts to which a connection waits for the next request."""
        return self._connections.hosts

    def hang_up(self, hosts: Iterable[str]) -> None:
        """Close the connections to hosts that another worker asks from now on."""
        for host in hosts:
            self._connections.hang_up(host)

    async def _answer(self, question: HttpRequest) -> Response:
        began = time.monotonic()
        route = await self._routes.find(question.host, question.port)
        lookup = time.monotonic() - began
        response = None
        for address in route.addresses[:_MOST_ADDRESSES]:
            response = await self._ask_proven(question, address, route.port)
            if response.failure not in _UNANSWERED or response.ip:
                break
            self._routes.avoid(route, address)
        response = response or Response(question.url, self._now(), failure=route.failure, detail=route.detail)
        return response if lookup < _WORTH_TELLING else _with_lookup(response, lookup)

    async def _ask_proven(self, question: HttpRequest, address: str, port: int) -> Response:
        """Ask a server that proves who it is; if it does not, and that is only to be recorded, ask it anyway."""
        response = await self._ask(question, address, port)
        if response.failure in BAD_CERTIFICATES and self._settings.tls_errors == "record":
            if len(self._doubts) >= _DOUBTS:
                self._doubts.clear()
            self._doubts[question.origin] = f"certificate not believed: {response.failure} ({response.detail})"
            response = await self._ask(question, address, port)
        doubt = self._doubts.get(question.origin) if self._doubts else None
        return replace(response, detail=doubt) if doubt and response.failure is None else response

    async def _ask(self, question: HttpRequest, address: str, port: int) -> Response:
        passage = self._connections.enter(question.host, question.origin, address)
        exchange = self._idle.pop() if self._idle else self._exchange()
        place = f"[{passage.address}]:{port}" if ":" in passage.address else f"{passage.address}:{port}"
        sent = partial(self._connections.sent, passage) if passage.rule else None
        exchange.begin(question.url, question.purpose, place, keep=passage.keep, sent=sent)
        exchange.verify(question.origin not in self._doubts)
        if question.conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, [*self._options[pycurl.HTTPHEADER], *question.conditions])
        fetched_at, error = self._now(), None
        try:
            await self._transfers.begin(exchange.curl)
        except pycurl.error as failed:
            error = failed
        except asyncio.CancelledError:
            self._transfers.drop(exchange.curl)
            self._connections.leave(passage, None, broken=True)
            raise
        self._connections.leave(passage, exchange.connection, broken=error is not None)
        if question.conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, self._options[pycurl.HTTPHEADER])
        response = exchange.finish(fetched_at, question.request, error)
        self._idle.append(exchange)
        return response

    def _exchange(self) -> Exchange:
        return Exchange(self._settings, self._allowances, self._options, self._routes.refusal, self._hold)


def _with_lookup(response: Response, seconds: float) -> Response:
    """What libcurl does not know: how long it took to find the address."""
    return replace(response, seconds=response.seconds + seconds, connect_seconds=response.connect_seconds + seconds)


def _connections_kept(concurrency: int) -> int:
    """How many open connections wait for their next use; at least half of the file descriptors are left to others."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(concurrency, min(_IDLE_PER_REQUEST * concurrency, descriptors // 2))

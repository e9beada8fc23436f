"""Fetches URLs: at most one request per host at a time, and a limited number in all.

`Fetcher` resolves the host, checks the IP address and its limits, sends the request and returns a `Response`. Failures
are responses too. Deciding what a response means is the task of `crawl/`.
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
from periplus.fetch.multi import CurlMulti, SendingForbidden
from periplus.fetch.request import HttpRequest, RequestBuilder, constant_options
from periplus.fetch.resolver import Resolver
from periplus.fetch.response_limits import Purpose, ResponseLimits
from periplus.fetch.routes import Routes
from periplus.model import Reason, Response


class HostSlots:
    """Admits one request per host at a time, and at most *concurrency* requests in all."""

    def __init__(self, concurrency: int) -> None:
        self._concurrency = concurrency
        self._active: dict[str, asyncio.Future[None]] = {}  # by host; done when its request ends

    async def acquire(self, host: str) -> None:
        """Wait until a request to the host may start; the slot is taken until `release`."""
        while host in self._active or len(self._active) >= self._concurrency:
            blocking = [self._active[host]] if host in self._active else self._active.values()
            await asyncio.wait(blocking, return_when=asyncio.FIRST_COMPLETED)
        self._active[host] = asyncio.get_running_loop().create_future()

    def release(self, host: str) -> None:
        """End the request of a host and wake the callers that wait for its slot."""
        self._active.pop(host).set_result(None)


# Idle connections per active request. A polite crawl uses the connection of a host again only after the host's delay.
_IDLE_CONNECTIONS_PER_REQUEST = 16
_MAX_ADDRESSES = 3  # IP addresses of one host that are tried when connecting fails
_CONNECT_FAILURES = frozenset({Reason.CONNECT, Reason.TIMEOUT})
_SHORTEST_LOOKUP = 0.001  # seconds; shorter lookups are not added to the connect time
_MAX_BAD_CERTIFICATES = 10_000  # origins remembered with an invalid certificate


class Fetcher:
    """Fetches URLs: at most `fetch.concurrency` at once, and never two from one host."""

    def __init__(
        self,
        settings: Fetching,
        user_agent: str,
        *,
        public_allowed: bool,
        addresses: AddressTable | None = None,
        worker: int = 0,
        now: Callable[[], float] = time.time,
        may_send: Callable[[], bool] | None = None,
    ) -> None:
        """Without *public_allowed*, connect to private addresses only, and only if the settings allow them.

        *addresses* is shared with the fetchers of other workers. *now* gives the time stamp of each request.
        *may_send* says whether this process may send anything at this moment; None: always.
        """
        self._settings, self._now, self._may_send = settings, now, may_send
        self._resolver = Resolver(settings.connect_timeout)
        self._routes = Routes(settings, self._resolver, public_allowed=public_allowed)
        self._connections = Connections(
            addresses or AddressTable(Politeness()),
            worker,
            connect_timeout=settings.connect_timeout + 1.0,
            max_idle=_max_connections(settings.concurrency),
        )
        self._limits, self._memory = ResponseLimits(settings), MemoryBudget(settings.large_bytes)
        self._options = constant_options(settings, user_agent)
        self._requests = RequestBuilder(user_agent)
        self._bad_certificates: dict[str, str] = {}  # by origin: the problem with its certificate
        self._idle_exchanges: list[Exchange] = []
        self._exchanges: dict[str, Exchange] = {}  # under way, by host
        self._slots = HostSlots(settings.concurrency)  # libcurl would count all hosts at one address as one

    async def __aenter__(self) -> Self:
        self._transfers = CurlMulti(_max_connections(self._settings.concurrency), self._may_send)
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._transfers.close()
        while self._idle_exchanges:
            self._idle_exchanges.pop().curl.close()
        self._connections.close_all()
        self._resolver.close()

    async def fetch(
        self, url: str, *, purpose: Purpose = Purpose.PAGE, etag: str = "", last_modified: str = ""
    ) -> Response:
        """Fetch a canonical URL with GET; a failure is returned as a response with its reason.

        *etag* and *last_modified* come from an earlier response: status 304 then means that the page is unchanged.
        Raises `AddressBusy` when the IP address has reached its limits, and `LookupPending` while a DNS lookup takes
        long. In both cases nothing is sent. Raises `SendingForbidden` when this process may not send, or no longer may
        while the request is under way. A large body may wait for memory until the caller of another fetch calls
        `release_body`.
        """
        return await self._send(url, self._requests.build(url, purpose, etag, last_modified))

    async def post(self, url: str, body: bytes, content_type: str) -> Response:
        """Send *body* to a canonical URL with POST; returns and raises the same as `fetch`."""
        return await self._send(url, self._requests.build_post(url, body, content_type))

    async def _send(self, url: str, request: HttpRequest | None) -> Response:
        if request is None:
            return Response(url, self._now(), failure=Reason.NOT_WEB, detail="not a canonical http or https URL")
        await self._slots.acquire(request.host)
        try:
            return await self._fetch_from_addresses(request)
        finally:
            self._slots.release(request.host)

    def release_body(self, host: str) -> None:
        """Free the memory reserved for the body of a host: the caller no longer needs the body."""
        self._memory.release(host)

    def abort_all(self) -> None:
        """Abort all requests: their callers get `SendingForbidden`."""
        self._transfers.abort_all()

    def is_connected(self, host: str) -> bool | None:
        """Whether the request to a host is connected; None: it is being resolved, or there is none."""
        exchange = self._exchanges.get(host)
        return None if exchange is None else exchange.is_connected

    @property
    def connected(self) -> list[str]:
        """Hosts with an idle open connection."""
        return self._connections.hosts

    def disconnect(self, hosts: Iterable[str]) -> None:
        """Close the connections to hosts that another worker owns from now on."""
        for host in hosts:
            self._connections.disconnect(host)

    async def _fetch_from_addresses(self, request: HttpRequest) -> Response:
        began = time.monotonic()
        route = await self._routes.find(request.host, request.port)
        lookup = time.monotonic() - began
        response = None
        for address in route.addresses[:_MAX_ADDRESSES]:
            response = await self._request_with_certificate_check(request, address, route.port)
            if response.failure not in _CONNECT_FAILURES or response.ip:
                break
            self._routes.demote(route, address)
        response = response or Response(request.url, self._now(), failure=route.failure, detail=route.detail)
        return response if lookup < _SHORTEST_LOOKUP else _with_lookup(response, lookup)

    async def _request_with_certificate_check(self, request: HttpRequest, address: str, port: int) -> Response:
        """Send a request; with `fetch.tls_errors = "record"`, repeat it unverified after a certificate error."""
        response = await self._request(request, address, port)
        if response.failure in BAD_CERTIFICATES and self._settings.tls_errors == "record":
            if len(self._bad_certificates) >= _MAX_BAD_CERTIFICATES:
                self._bad_certificates.clear()
            self._bad_certificates[request.origin] = f"invalid certificate: {response.failure} ({response.detail})"
            response = await self._request(request, address, port)
        problem = self._bad_certificates.get(request.origin) if self._bad_certificates else None
        return replace(response, detail=problem) if problem and response.failure is None else response

    async def _request(self, request: HttpRequest, address: str, port: int) -> Response:
        permit = self._connections.acquire(request.host, request.origin, address)
        exchange = self._idle_exchanges.pop() if self._idle_exchanges else self._new_exchange()
        target = f"[{permit.address}]:{port}" if ":" in permit.address else f"{permit.address}:{port}"
        on_sent = partial(self._connections.mark_sent, permit) if permit.rule else None
        exchange.prepare(request.url, request.purpose, target, keep_alive=permit.keep_alive, on_sent=on_sent)
        exchange.set_certificate_check(request.origin not in self._bad_certificates)
        if request.conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, [*self._options[pycurl.HTTPHEADER], *request.conditions])
        if request.body is not None:
            exchange.curl.setopt(pycurl.POSTFIELDS, request.body)
        fetched_at, error = self._now(), None
        self._exchanges[request.host] = exchange
        try:
            await self._transfers.start(exchange.curl)
        except pycurl.error as failed:
            error = failed
        except (asyncio.CancelledError, SendingForbidden):
            self._transfers.cancel(exchange.curl)
            self._connections.release(permit, None, broken=True)
            raise
        finally:
            del self._exchanges[request.host]
        self._connections.release(permit, exchange.connection, broken=error is not None)
        if request.conditions:
            exchange.curl.setopt(pycurl.HTTPHEADER, self._options[pycurl.HTTPHEADER])
        if request.body is not None:
            exchange.curl.setopt(pycurl.HTTPGET, 1)
        response = exchange.finish(fetched_at, request.raw, error)
        self._idle_exchanges.append(exchange)
        return response

    def _new_exchange(self) -> Exchange:
        return Exchange(self._settings, self._limits, self._options, self._routes.refusal, self._memory)


def _with_lookup(response: Response, seconds: float) -> Response:
    """Add the time of the DNS lookup, which libcurl does not measure."""
    return replace(response, seconds=response.seconds + seconds, connect_seconds=response.connect_seconds + seconds)


def _max_connections(concurrency: int) -> int:
    """Return the limit of open connections; it uses at most half of the file descriptors."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(concurrency, min(_IDLE_CONNECTIONS_PER_REQUEST * concurrency, descriptors // 2))

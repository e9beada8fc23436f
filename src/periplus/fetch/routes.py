"""Which IP addresses and port does a request for this host connect to?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address

from periplus.config.settings import Fetching
from periplus.fetch.resolver import Resolver
from periplus.fetch.ssrf_guard import private_networks, refusal, refusal_text
from periplus.model import Reason

_RULE = re.compile(r"(\[[^\]]*\]|[^:]*):(\d*):(\[[^\]]*\]|[^:]*):(\d*)")

_CACHED = 16_384  # hosts, and addresses


@dataclass(frozen=True, slots=True)
class Route:
    """The addresses for a request, in the order of attempts, or why there is none."""

    host: str  # after `connect_to`
    port: int
    addresses: tuple[str, ...] = ()
    failure: Reason | None = None
    detail: str = ""


class Routes:
    """Finds the IP addresses of a host, without those that must not be connected to."""

    def __init__(self, settings: Fetching, resolver: Resolver, *, public_allowed: bool) -> None:
        self._resolver = resolver
        self._rules = _ConnectRules(settings.connect_to)
        private = private_networks(allow_all=settings.allow_private, named=settings.private_addresses)
        # Every request calls both functions, and both are slow.
        self._without_lookup = lru_cache(_CACHED)(self._find_without_lookup)
        self.refusal = lru_cache(_CACHED)(partial(refusal, private=private, public_allowed=public_allowed))

    async def find(self, host: str, port: int) -> Route:
        """Return the addresses and the port that requests to this host and port connect to."""
        route = self._without_lookup(host, port)
        if route.addresses or route.failure is not None:
            return route
        found = await self._resolver.look_up(route.host)
        if found.failure or not found.addresses:
            return Route(route.host, route.port, failure=Reason.DNS, detail=found.failure or "the host has no address")
        return self._allowed_route(route.host, route.port, found.addresses)

    def demote(self, route: Route, address: str) -> None:
        """Try another address first from now on, because connecting to this one failed."""
        self._resolver.demote(route.host, address)

    def _find_without_lookup(self, host: str, port: int) -> Route:
        """Apply `connect_to`; the route is complete when the host is an IP address."""
        host, port = self._rules.target(host, port)
        if port > 65_535:
            return Route(host, port, failure=Reason.NOT_WEB, detail=f"{port} is not a port")
        literal = _literal(host)
        return self._allowed_route(host, port, (literal,)) if literal else Route(host, port)

    def _allowed_route(self, host: str, port: int, addresses: tuple[str, ...]) -> Route:
        allowed = tuple(address for address in addresses if self.refusal(address) is None)
        if allowed:
            return Route(host, port, allowed)
        reason = self.refusal(addresses[0])
        assert reason is not None
        return Route(host, port, failure=reason, detail=refusal_text(reason, addresses[0]))


class _ConnectRules:
    """`HOST1:PORT1:HOST2:PORT2` as in curl: an empty field matches any value, or keeps it; the first match applies."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._rules: dict[tuple[str, str], tuple[int, str, str]] = {}
        for number, rule in enumerate(rules):
            fields = _RULE.fullmatch(rule)
            assert fields is not None, rule
            host, port, new_host, new_port = fields.groups()
            self._rules.setdefault((host.lower(), port), (number, new_host, new_port))

    def target(self, host: str, port: int) -> tuple[str, int]:
        if not self._rules:
            return host, port
        keys = ((host, str(port)), (host, ""), ("", str(port)), ("", ""))
        matching = [self._rules[key] for key in keys if key in self._rules]
        if not matching:
            return host, port
        _, new_host, new_port = min(matching)
        return new_host or host, int(new_port) if new_port else port


def _literal(host: str) -> str:
    """Return the IP address when the host is one, else an empty string."""
    if not (host[-1:].isdigit() or host[-1:] in ".]"):  # host names on the web end otherwise
        return ""
    try:
        return str(ip_address(host.strip("[]").rstrip(".")))
    except ValueError:
        return ""

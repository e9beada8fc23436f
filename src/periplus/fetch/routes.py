"""Which address is dialled for this URL?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from ipaddress import ip_address

from periplus.config.settings import Fetching
from periplus.fetch.resolver import Resolver
from periplus.fetch.ssrf_guard import explanation, private_networks, refusal
from periplus.model import Reason

_RULE = re.compile(r"(\[[^\]]*\]|[^:]*):(\d*):(\[[^\]]*\]|[^:]*):(\d*)")

_REMEMBERED = 16_384


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request may go: addresses in the order in which they are tried, or why there is none."""

    host: str  # whose addresses they are
    port: int
    addresses: tuple[str, ...] = ()
    failure: Reason | None = None
    detail: str = ""


class Routes:
    """Finds addresses; those that must not be dialled are left out here already, and refused again at the dial."""

    def __init__(self, settings: Fetching, resolver: Resolver, *, public_allowed: bool) -> None:
        self._resolver = resolver
        self._rules = _ConnectRules(settings.connect_to)
        private = private_networks(allow_all=settings.allow_private, named=settings.private_addresses)
        # Why an address must not be dialled, if it must not. Every request asks both, and asking is slow.
        self._plain = lru_cache(_REMEMBERED)(self._find_plain)
        self.refusal = lru_cache(_REMEMBERED)(partial(refusal, private=private, public_allowed=public_allowed))

    async def find(self, host: str, port: int) -> Route:
        """Where requests to this host and port really go."""
        route = self._plain(host, port)
        if route.addresses or route.failure is not None:
            return route
        found = await self._resolver.look_up(route.host)
        if found.failure or not found.addresses:
            return Route(route.host, route.port, failure=Reason.DNS, detail=found.failure or "it has no address")
        return self._admitted(route.host, route.port, found.addresses)

    def avoid(self, route: Route, address: str) -> None:
        """An address does not answer; another one is tried first from now on."""
        self._resolver.demote(route.host, address)

    def _find_plain(self, host: str, port: int) -> Route:
        """All that can be said without a lookup, which is everything when the host is an address."""
        host, port = self._rules.target(host, port)
        if port > 65_535:
            return Route(host, port, failure=Reason.NOT_WEB, detail=f"{port} is not a port")
        literal = _literal(host)
        return self._admitted(host, port, (literal,)) if literal else Route(host, port)

    def _admitted(self, host: str, port: int, addresses: tuple[str, ...]) -> Route:
        admitted = tuple(address for address in addresses if self.refusal(address) is None)
        if admitted:
            return Route(host, port, admitted)
        reason = self.refusal(addresses[0])
        assert reason is not None
        return Route(host, port, failure=reason, detail=explanation(reason, addresses[0]))


class _ConnectRules:
    """`HOST1:PORT1:HOST2:PORT2` as in curl: an empty field means any, or the same; the first rule that fits counts."""

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
        fitting = [self._rules[key] for key in keys if key in self._rules]
        if not fitting:
            return host, port
        _, new_host, new_port = min(fitting)
        return new_host or host, int(new_port) if new_port else port


def _literal(host: str) -> str:
    """The address that a host is by itself, if it is one."""
    if not (host[-1:].isdigit() or host[-1:] in ".]"):  # no name of the web ends like that
        return ""
    try:
        return str(ip_address(host.strip("[]").rstrip(".")))
    except ValueError:
        return ""

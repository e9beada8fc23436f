"""How much may be asked of one address, beside what its hosts allow?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_network
from zlib import crc32

from periplus.config.settings import Politeness
from periplus.fetch.ssrf_guard import is_private, unwrapped

_REMEMBERED = 65_536


@dataclass(frozen=True, slots=True)
class AddressRule:
    """The limits of one address, and the number under which all workers keep its state."""

    key: int
    connections: int  # open at once; 0: any number
    delay: float  # seconds from one request to the next

    def keeps(self, connections: int) -> bool:
        """Whether, with so many open, one may wait for its next use: half of them, so that other hosts have room."""
        return not self.connections or connections <= self.connections // 2


class AddressRules:
    """The rules under one configuration: those of the smallest network that holds an address, else the general one."""

    def __init__(self, settings: Politeness) -> None:
        networks = [(ip_network(limit.range), limit.connections, limit.delay) for limit in settings.address_limits]
        self._networks = sorted(networks, key=lambda entry: entry[0].prefixlen, reverse=True)
        self._general = (settings.address_connections, settings.address_delay)
        self.of = lru_cache(maxsize=_REMEMBERED)(self._find)

    def _find(self, ip: str) -> AddressRule | None:
        """The limits of an address that may be dialled; None when it has none."""
        address = unwrapped(ip_address(ip))[-1]
        general = (0, 0.0) if is_private(address) else self._general
        own = ((connections, delay) for network, connections, delay in self._networks if address in network)
        connections, delay = next(own, general)
        return AddressRule(crc32(address.packed), connections, delay) if connections or delay else None

"""Limits the requests of each client with a token bucket; answers 429 with Retry-After above the limit.

A bucket holds *burst* tokens and gets *rate* new ones per second. A request takes one. The limit counts an IPv6 network
of 64 bits as one client, because every customer of a provider has such a network. Of the clients, the most recent
10,000 are remembered. Each server process counts for itself.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import IPv6Address

from periplus.site.client_address import parsed_address

MOST_CLIENTS = 10_000
_NETWORK_BITS = 64


class RateLimit:
    """The buckets of all clients."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """*rate* in requests per second."""
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, and when they were counted

    def __len__(self) -> int:
        """The number of clients that are remembered."""
        return len(self._buckets)

    def wait(self, client: str) -> int:
        """Takes a token for a request of this client; returns 0, or the seconds to wait when there is none."""
        now, network = self._clock(), client_network(client)
        tokens, counted = self._buckets.pop(network, (self._burst, now))
        tokens = min(tokens + (now - counted) * self._rate, self._burst)
        is_allowed = tokens >= 1
        self._buckets[network] = (tokens - is_allowed, now)
        if len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        return 0 if is_allowed else max(math.ceil((1 - tokens) / self._rate), 1)


def client_network(client: str) -> str:
    """What counts as one client: an IPv4 address, or an IPv6 network of 64 bits."""
    if ":" not in client:
        return client
    address = parsed_address(client)
    if isinstance(address, IPv6Address):
        return str(IPv6Address(int(address) >> _NETWORK_BITS << _NETWORK_BITS))
    return client if address is None else str(address)

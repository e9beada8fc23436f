"""Finds the IP address of the client, also behind trusted reverse proxies.

A client can write anything into X-Forwarded-For and Forwarded. So these headers count only when a trusted proxy sends
the request, and only their last entries, up to the first address that is not a trusted proxy. When both headers are
present and disagree, one of them is forged; then the address is that of the proxy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from starlette.types import Scope

_FORWARDED_FOR = re.compile(r'for="?\[?([0-9A-Fa-f:.]+)', re.IGNORECASE)
_IPV4_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")
_UNKNOWN = "0.0.0.0"  # noqa: S104  # of a connection without an IP address, such as a Unix socket
_LONGEST_CHAIN = 32  # proxies; further entries are ignored
_Address = IPv4Address | IPv6Address


class ClientAddresses:
    """Knows the trusted proxies."""

    def __init__(self, trusted: Sequence[str]) -> None:
        """*trusted*: networks, such as 10.0.0.0/8."""
        self._networks = [ip_network(network) for network in trusted]

    def client(self, scope: Scope) -> str:
        """The IP address of the client that sent this request."""
        peer = scope["client"][0] if scope.get("client") else _UNKNOWN
        if not self._networks or not self._is_trusted(peer):
            return str(peer)
        chains = [chain for chain in _chains(scope["headers"]) if chain]
        found = {self._first_untrusted(peer, chain) for chain in chains}
        return found.pop() if len(found) == 1 else str(peer)

    def _first_untrusted(self, peer: str, chain: Sequence[str]) -> str:
        """The last address of the chain that is no trusted proxy; each entry was written by the one after it."""
        client = peer
        for entry in reversed(chain[-_LONGEST_CHAIN:]):
            address = parsed_address(entry)
            if address is None:
                return client
            client = str(address)
            if not self._is_trusted(client):
                return client
        return client

    def _is_trusted(self, text: str) -> bool:
        address = parsed_address(text)
        return address is not None and any(address in network for network in self._networks)


def is_forwarded(scope: Scope) -> bool:
    """Whether a proxy, or a client that claims to be one, has passed the request on."""
    return any(name in {b"x-forwarded-for", b"forwarded"} for name, _ in scope["headers"])


def parsed_address(text: str) -> _Address | None:
    """The IP address; an IPv4 address inside IPv6 as IPv4; None when the text is not an address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _chains(headers: Sequence[tuple[bytes, bytes]]) -> tuple[list[str], list[str]]:
    """The addresses of X-Forwarded-For and of Forwarded, in their order; repeated headers are joined."""
    plain, standard = list[str](), list[str]()
    for name, value in headers:
        if name == b"x-forwarded-for":
            plain += [_without_port(entry.strip()) for entry in value.decode("latin-1").split(",")]
        elif name == b"forwarded":
            standard += [_forwarded_for(entry) for entry in value.decode("latin-1").split(",")]
    return plain, standard


def _without_port(entry: str) -> str:
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    found = _IPV4_WITH_PORT.fullmatch(entry)
    return found[1] if found else entry


def _forwarded_for(entry: str) -> str:
    found = _FORWARDED_FOR.search(entry)
    return _without_port(found[1]) if found else ""

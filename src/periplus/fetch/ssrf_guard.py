"""May the crawler connect to this IP address?

A crawled link may lead to any address. The address that counts is the one connected to, after DNS, redirects and
`connect_to`, so the check runs when the socket is opened. Every range is listed here, because `is_global` of the
standard library accepts tunnel addresses.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from periplus.model import Reason

Network = IPv4Network | IPv6Network

# Always refused: no web sites are there, and metadata services return the secrets of a cloud machine.
_NEVER_V4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "100.100.100.200/32",  # metadata service (Alibaba)
        "168.63.129.16/32",  # metadata service (Azure), although the range is public
        "169.254.0.0/16",  # link-local; metadata services of most clouds
        "192.0.0.0/24",  # protocol assignments; metadata service (Oracle)
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast address
    )
)
_PRIVATE_V4 = tuple(
    IPv4Network(text)
    for text in (
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared address space of providers
        "127.0.0.0/8",  # loopback
        "172.16.0.0/12",
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays, withdrawn
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
    )
)
_NEVER_V6 = tuple(
    IPv6Network(text)
    for text in (
        "::/128",  # unspecified
        "64:ff9b:1::/48",  # local-use translation: the embedded address cannot be decoded
        "100::/64",  # discarded
        "100:0:0:1::/64",  # dummy prefix
        "5f00::/16",  # segment routing
        "fd00:ec2::/32",  # metadata service (Amazon)
        "fd20:ce::/32",  # metadata service (Google)
        "fe80::/10",  # link-local
        "fec0::/10",  # site-local, withdrawn
        "ff00::/8",  # multicast
    )
)
_PRIVATE_V6 = tuple(
    IPv6Network(text)
    for text in (
        "::1/128",  # loopback
        "2001::/23",  # protocol assignments; Teredo is decoded before this check
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
        "fc00::/7",  # unique local
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")  # everything outside is not assigned
_HOST_BITS_V4 = tuple(
    IPv6Network(text)
    for text in (
        "::/96",  # compatible, withdrawn
        "::ffff:0:0/96",  # mapped
        "::ffff:0:0:0/96",  # translated
        "64:ff9b::/96",  # NAT64
    )
)
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")


def refusal(ip: str, *, private: tuple[Network, ...], public_allowed: bool) -> Reason | None:
    """Return why connecting to this address is refused, or None when it is allowed.

    *public_allowed* is false while `identity.contact` is not set. *private* lists the private networks that are
    allowed; link-local, multicast and metadata addresses are always refused.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return Reason.PRIVATE_ADDRESS
    verdicts = [_refusal_reason(inner, private, public_allowed) for inner in embedded_ipv4(address)]
    return Reason.PRIVATE_ADDRESS if Reason.PRIVATE_ADDRESS in verdicts else verdicts[0]


def refusal_text(reason: Reason, ip: str) -> str:
    """Return the refusal as a sentence for reports."""
    if reason is Reason.NO_CONTACT:
        return f"{ip} is a public address, and identity.contact is not set"
    if refusal(ip, private=(*_PRIVATE_V4, *_PRIVATE_V6), public_allowed=True) is None:
        return f"{ip} is a private address; add --allow-private to crawl it"
    return f"{ip} is a reserved address, which is never crawled"


def is_private(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is not public."""
    return _refusal_reason(address, (), True) is not None


def private_networks(*, allow_all: bool, named: Iterable[str]) -> tuple[Network, ...]:
    """Return the private networks that the settings allow."""
    return (*_PRIVATE_V4, *_PRIVATE_V6) if allow_all else tuple(ip_network(text) for text in named)


def _refusal_reason(
    address: IPv4Address | IPv6Address, allowed: tuple[Network, ...], public_allowed: bool
) -> Reason | None:
    if isinstance(address, IPv4Address):
        never = any(address in network for network in _NEVER_V4)
        private = any(address in network for network in _PRIVATE_V4)
    else:
        private = any(address in network for network in _PRIVATE_V6)
        never = any(address in network for network in _NEVER_V6) or not (private or address in _GLOBAL_V6)
    if never or (private and not any(address in network for network in allowed)):
        return Reason.PRIVATE_ADDRESS
    return None if private or public_allowed else Reason.NO_CONTACT


def embedded_ipv4(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """Return the addresses inside a tunnel or translation address, else the address itself."""
    if isinstance(address, IPv4Address) or int(address) <= 1:
        return [address]
    if any(address in network for network in _HOST_BITS_V4):
        return [IPv4Address(address.packed[12:])]
    if address in _SIX_TO_FOUR:
        return [IPv4Address(address.packed[2:6])]
    if address in _TEREDO:
        server, client = struct.unpack("!4xI4xI", address.packed)
        return [IPv4Address(server), IPv4Address(client ^ 0xFFFFFFFF)]
    return [address]

"""Sends single requests to a web service that the owner of the site has named, such as a weather service.

The rules of the crawler apply: redirects are not followed, and private addresses are refused. An owner who names a
loopback or private IP address allows that one address.
"""

from __future__ import annotations

import asyncio
from ipaddress import ip_address
from urllib.parse import urlsplit

from periplus.config.settings import Fetching, Politeness
from periplus.fetch.client import Fetcher
from periplus.fetch.connections import AddressBusy
from periplus.fetch.ip_limits import AddressTable
from periplus.fetch.request import user_agent
from periplus.fetch.resolver import LookupPending
from periplus.fetch.response_limits import Purpose

_LOOPBACK = ["127.0.0.1", "::1"]


class WebService:
    """One server, and the time that a request to it may take."""

    def __init__(self, address: str, timeout: float) -> None:
        """*address*: scheme, host and port; *timeout* in seconds for a whole request."""
        self._address, self._timeout = address.rstrip("/"), timeout
        self._settings = Fetching(
            concurrency=1,
            connect_timeout=timeout,
            private_addresses=_allowed_private(urlsplit(self._address).hostname or ""),
        )

    async def get(self, path: str) -> bytes | None:
        """The body of a response with status 200 and at most 64 kB; None after any failure."""
        limits = AddressTable(Politeness(address_connections=0, address_delay=0))
        try:
            async with (
                asyncio.timeout(self._timeout),
                Fetcher(self._settings, user_agent(""), public_allowed=True, addresses=limits) as fetcher,
            ):
                response = await fetcher.fetch(self._address + path, purpose=Purpose.SERVICE)
        except (TimeoutError, AddressBusy, LookupPending):
            return None
        return response.body if response.status == 200 and response.failure is None else None


def _allowed_private(host: str) -> list[str]:
    """The private addresses that the host itself names."""
    if host == "localhost":
        return _LOOPBACK
    try:
        return [str(ip_address(host))]
    except ValueError:
        return []

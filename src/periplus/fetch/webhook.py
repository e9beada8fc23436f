"""Sends JSON to the webhooks that the owner of a collection has named.

The rules of the crawler apply: private addresses are refused unless the settings name them, and redirects are not
followed, so no answer can lead a request to a private address.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from periplus.config import Watching
from periplus.config.settings import Fetching, Politeness
from periplus.fetch.client import Fetcher
from periplus.fetch.connections import AddressBusy
from periplus.fetch.ip_limits import AddressTable
from periplus.fetch.request import user_agent
from periplus.fetch.resolver import LookupPending
from periplus.model import Reason, Response

LARGEST = 256 * 1024  # bytes of a body
_AT_ONCE = 8  # requests


class Delivery(NamedTuple):
    """One request to a webhook."""

    url: str  # canonical
    body: bytes  # JSON


def deliver_all(deliveries: Sequence[Delivery], settings: Watching, contact: str = "") -> list[str]:
    """Sends all requests; returns for each why it failed, or an empty text. Must not run in an event loop."""
    return asyncio.run(_deliver_all(deliveries, settings, contact))


async def _deliver_all(deliveries: Sequence[Delivery], settings: Watching, contact: str) -> list[str]:
    limits = AddressTable(Politeness(address_connections=0, address_delay=0))
    fetching = Fetching(
        concurrency=_AT_ONCE,
        connect_timeout=settings.webhook_timeout,
        timeout=settings.webhook_timeout,
        private_addresses=settings.private_addresses,
    )
    free = asyncio.Semaphore(_AT_ONCE)
    async with Fetcher(fetching, user_agent(contact), public_allowed=True, addresses=limits) as fetcher:

        async def deliver(one: Delivery) -> str:
            async with free:
                return await _deliver(fetcher, one, settings.webhook_timeout)

        return await asyncio.gather(*map(deliver, deliveries))


async def _deliver(fetcher: Fetcher, delivery: Delivery, seconds: float) -> str:
    if len(delivery.body) > LARGEST:
        return f"the message has {len(delivery.body)} bytes; the limit is {LARGEST}"
    try:
        async with asyncio.timeout(seconds):
            return _failure(await fetcher.post(delivery.url, delivery.body, "application/json"))
    except (TimeoutError, LookupPending):
        return f"no answer within {seconds:g} seconds"
    except AddressBusy:
        return "its address has too many connections"


def _failure(response: Response) -> str:
    """Why the webhook has not taken the message; the body of its answer does not matter."""
    if 200 <= response.status < 300:
        return ""
    if 300 <= response.status < 400:
        return f"status {response.status}: redirects are not followed"
    if response.failure is Reason.PRIVATE_ADDRESS:
        return "its address is private or reserved; the setting watch.private_addresses can allow private networks"
    return f"status {response.status}" if response.status else f"{response.failure}: {response.detail}"

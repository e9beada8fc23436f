"""How many connections does a server see, and to which of its addresses?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fetch.certificates import Authority
from fetch.servers import AGENT, Site, answer, forever, replies, run, serving
from periplus.config import AddressLimit, Fetching, Politeness
from periplus.fetch import resolver as resolver_module
from periplus.fetch.client import Fetcher
from periplus.fetch.connections import AddressBusy, Connections
from periplus.fetch.exchange import Exchange
from periplus.fetch.ip_limits import AddressTable
from periplus.fetch.memory_budget import MemoryBudget
from periplus.fetch.request import constant_options
from periplus.fetch.response_limits import Purpose, ResponseLimits
from periplus.model import Reason

PAGE = replies(answer(b"<p>hello"))
GONE = replies(answer(b"<p>bye", "Content-Type: text/html", "Connection: close"))


def limited(connections: int, delay: float = 0.0) -> AddressTable:
    limit = AddressLimit(range="127.0.0.0/8", connections=connections, delay=delay)
    return AddressTable(Politeness(address_limits=[limit]), workers=2)


def client_of(site: Site, addresses: AddressTable, **settings: Any) -> Fetcher:
    rules = {"allow_private": True, "connect_to": [f"::127.0.0.1:{site.port}"], **settings}
    return Fetcher(Fetching(**rules), AGENT, public_allowed=False, addresses=addresses)


@asynccontextmanager
async def limited_site(
    connections: int, reply: Any = PAGE, delay: float = 0.0
) -> AsyncIterator[tuple[Site, Fetcher, AddressTable]]:
    """Yield a site, a fetcher with a limit for the address of the site, and the table of limits."""
    addresses = limited(connections, delay)
    async with serving(reply) as site, client_of(site, addresses) as client:
        yield site, client, addresses


def open_to_loopback(addresses: AddressTable) -> int:
    rule = addresses.rules.of("127.0.0.1")
    assert rule is not None
    return addresses.connections(rule)


def test_a_host_alone_at_its_address_keeps_its_connection() -> None:
    async def main() -> None:
        async with limited_site(connections=4) as (site, client, addresses):
            for page in range(5):
                assert (await client.fetch(f"http://a.test/{page}")).failure is None
            assert (site.connections, open_to_loopback(addresses)) == (1, 1)
        assert open_to_loopback(addresses) == 0

    run(main())


def test_hosts_that_share_an_address_close_idle_connections_for_each_other() -> None:
    async def main() -> None:
        for limit, kept in ((1, 0), (2, 1), (4, 2)):
            async with limited_site(limit) as (site, client, addresses):
                for turn in range(12):
                    assert (await client.fetch(f"http://h{turn % 6}.test/")).failure is None
                assert open_to_loopback(addresses) == kept
                assert site.max_connected <= limit

    run(main())


def test_a_connection_that_the_server_closes_does_not_count() -> None:
    async def main() -> None:
        async with limited_site(2, GONE) as (site, client, addresses):
            for turn in range(6):
                assert (await client.fetch(f"http://h{turn}.test/")).failure is None
            assert (site.connections, open_to_loopback(addresses)) == (6, 0)

    run(main())


def test_nothing_is_sent_to_an_address_that_is_busy() -> None:
    async def main() -> None:
        endless = forever(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"x", pause=0.01)
        async with limited_site(1, endless) as (site, client, addresses):
            first = asyncio.create_task(client.fetch("http://a.test/"))
            await asyncio.sleep(0.1)
            for _ in range(3):
                with pytest.raises(AddressBusy):
                    await client.fetch("http://b.test/")
            assert (len(site.requests), site.connections) == (1, 1)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert open_to_loopback(addresses) == 0  # a cancelled fetch does not count as open

    run(main())


def test_the_delay_of_an_address_counts_for_all_its_hosts() -> None:
    async def main() -> None:
        async with limited_site(0, delay=5.0) as (site, client, _addresses):
            await client.fetch("http://a.test/")
            for host in ("a.test", "b.test"):
                with pytest.raises(AddressBusy):
                    await client.fetch(f"http://{host}/")
            assert len(site.requests) == 1

    run(main())


def test_hosts_at_a_busy_address_retry_one_after_the_other() -> None:
    table = limited(0, delay=2.0)
    connections = Connections(table, 0, connect_timeout=1.0, max_idle=8)
    connections.mark_sent(connections.acquire("a.test", "http://a.test", "127.0.0.1"))
    waits = []
    for number in range(4):
        with pytest.raises(AddressBusy) as busy:
            connections.acquire(f"h{number}.test", f"http://h{number}.test", "127.0.0.1")
        waits.append(busy.value.seconds)
    assert waits == pytest.approx([2.0, 4.0, 6.0, 8.0], abs=0.1)


def test_a_failed_connection_does_not_count_as_open() -> None:
    async def main() -> None:
        addresses = limited(1)
        async with serving(PAGE) as site:
            pass
        async with client_of(site, addresses) as client:
            for _ in range(3):
                assert (await client.fetch("http://a.test/")).failure is Reason.CONNECT
        assert open_to_loopback(addresses) == 0

    run(main())


# --- one connection per host ---


def test_a_request_to_another_port_of_a_host_closes_the_idle_connection(tmp_path: Path) -> None:
    async def main() -> None:
        authority = Authority(tmp_path)
        async with serving(PAGE) as plain, serving(PAGE, authority.server("a.test")) as secure:
            rules = [f"a.test:80:127.0.0.1:{plain.port}", f"a.test:443:127.0.0.1:{secure.port}"]
            settings = Fetching(allow_private=True, connect_to=rules, ca_file=str(authority.file))
            async with Fetcher(settings, AGENT, public_allowed=False) as client:
                for scheme in ("http", "https", "http"):
                    assert (await client.fetch(f"{scheme}://a.test/")).failure is None
                    await asyncio.sleep(0.05)
                    assert (plain.connected_now, secure.connected_now) == ((0, 1) if scheme == "https" else (1, 0))

    run(main())


def test_the_connection_of_a_host_that_moves_to_another_worker_is_closed() -> None:
    async def main() -> None:
        async with limited_site(4) as (site, client, addresses):
            for host in ("a.test", "b.test"):
                await client.fetch(f"http://{host}/")
            client.disconnect(["a.test", "never-met.test"])
            await asyncio.sleep(0.05)
            assert (site.connected_now, open_to_loopback(addresses)) == (1, 1)
            assert (await client.fetch("http://a.test/")).failure is None

    run(main())


def test_idle_connections_are_closed_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.fetch.connections.IDLE_SECONDS", 0.1)

    async def main() -> None:
        async with limited_site(4) as (site, client, _addresses):
            await client.fetch("http://a.test/")
            await asyncio.sleep(0.15)
            await client.fetch("http://b.test/")
            await asyncio.sleep(0.05)
            assert (site.connections, site.connected_now) == (2, 1)

    run(main())


# --- choice of the address ---


def test_when_the_first_address_does_not_respond_the_next_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving(PAGE) as site:
            lookups = []

            def query(host: str) -> list[str]:
                lookups.append(host)
                return ["127.0.0.2", "127.0.0.1"]

            monkeypatch.setattr(resolver_module, "_query_system", query)
            settings = Fetching(allow_private=True)
            async with Fetcher(settings, AGENT, public_allowed=False) as client:
                answers = [await client.fetch(f"http://a.test:{site.port}/{page}") for page in range(3)]
            assert [(response.failure, response.ip) for response in answers] == [(None, "127.0.0.1")] * 3
            assert (lookups, site.connections) == (["a.test"], 1)

    run(main())


def test_the_time_of_a_lookup_is_part_of_the_time_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving(PAGE) as site:
            lookups = []

            def query(host: str) -> list[str]:
                lookups.append(host)
                time.sleep(0.5)
                return ["127.0.0.1"]

            monkeypatch.setattr(resolver_module, "_query_system", query)
            async with Fetcher(Fetching(allow_private=True), AGENT, public_allowed=False) as client:
                first, second = [await client.fetch(f"http://a.test:{site.port}/{page}") for page in range(2)]
            assert first.seconds > first.connect_seconds >= 0.5
            assert second.connect_seconds == 0.0
            assert lookups == ["a.test"]

    run(main())


def test_a_dns_change_does_not_double_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving(PAGE) as site:
            answers = iter([["127.0.0.1"], ["127.0.0.2"]])
            monkeypatch.setattr(resolver_module, "_TTL", 0.0)
            monkeypatch.setattr(resolver_module, "_query_system", lambda _: next(answers))
            async with Fetcher(Fetching(allow_private=True), AGENT, public_allowed=False) as client:
                for page in range(2):
                    assert (await client.fetch(f"http://a.test:{site.port}/{page}")).ip == "127.0.0.1"
            assert site.connections == 1

    run(main())


def test_the_check_at_the_socket_refuses_addresses_whatever_chose_them() -> None:
    """Nothing is sent to a refused address."""

    async def main() -> None:
        async with serving(PAGE) as canary:
            settings = Fetching(allow_private=True)
            options = constant_options(settings, AGENT)
            exchange = Exchange(
                settings, ResponseLimits(settings), options, lambda _: Reason.PRIVATE_ADDRESS, MemoryBudget(0)
            )
            async with Fetcher(settings, AGENT, public_allowed=True) as client:
                client._idle_exchanges.append(exchange)
                response = await client.fetch(canary.url(), purpose=Purpose.PAGE)
            assert (response.failure, response.ip) == (Reason.PRIVATE_ADDRESS, "")
            assert response.detail == "127.0.0.1 is a private address; add --allow-private to crawl it"
            assert canary.connections == 0

    run(main())

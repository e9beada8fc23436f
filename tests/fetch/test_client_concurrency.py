"""The fetcher requests many hosts at once, and each host one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from fetch.servers import Reply, answer, fetcher, forever, run, serving
from periplus.fetch.client import Fetcher
from periplus.model import Reason, Response


async def reply_slowly(_request: bytes) -> AsyncIterator[bytes]:
    await asyncio.sleep(0.02)
    yield answer(b"<p>hello")


def reply_after(requests: int) -> Reply:
    """Respond only after so many requests have arrived, and then slowly."""
    all_arrived, arrived = asyncio.Event(), 0

    async def reply(request: bytes) -> AsyncIterator[bytes]:
        nonlocal arrived
        arrived += 1
        if arrived == requests:
            all_arrived.set()
        await asyncio.wait_for(all_arrived.wait(), 20)
        async for part in reply_slowly(request):
            yield part

    return reply


async def fetch_all(client: Fetcher, hosts: int, pages: int) -> list[Response]:
    urls = [f"http://h{host}.example/{page}" for page in range(pages) for host in range(hosts)]
    return list(await asyncio.gather(*(client.fetch(url) for url in urls)))


def test_one_host_gets_one_request_at_a_time_on_one_connection() -> None:
    async def main() -> None:
        async with serving(reply_slowly) as site, fetcher(connect_to=[f"::127.0.0.1:{site.port}"]) as client:
            answers = await fetch_all(client, hosts=1, pages=10)
            assert [response.body for response in answers] == [b"<p>hello"] * 10
            assert (site.max_answering, site.connections) == (1, 1)

    run(main())


def test_many_hosts_are_requested_at_once_each_on_its_own_connection() -> None:
    async def main() -> None:
        async with serving(reply_after(40)) as site, fetcher(connect_to=[f"::127.0.0.1:{site.port}"]) as client:
            answers = await fetch_all(client, hosts=40, pages=3)
            assert [response.failure for response in answers] == [None] * 120
            assert (site.max_answering, site.connections) == (40, 40)

    run(main())


def test_there_are_never_more_requests_than_the_concurrency_setting() -> None:
    async def main() -> None:
        async with (
            serving(reply_after(5)) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], concurrency=5) as client,
        ):
            await fetch_all(client, hosts=30, pages=1)
            assert site.max_answering == 5

    run(main())


def test_a_response_does_not_leak_into_later_ones() -> None:
    async def echo(request: bytes) -> AsyncIterator[bytes]:
        path = request.split(b" ")[1]
        kind = "image/png" if b"image" in path else "text/html"
        yield answer(path, f"Content-Type: {kind}", f"X-Only-{path[1:].decode()}: 1")

    async def main() -> None:
        async with serving(echo) as site, fetcher(concurrency=1) as client:
            first = await client.fetch(site.url("/one"))
            refused = await client.fetch(site.url("/image"))
            second = await client.fetch(site.url("/two"))
            assert (first.body, refused.failure, second.body, second.failure) == (
                b"/one",
                Reason.WRONG_TYPE,
                b"/two",
                None,
            )
            assert (first.detail, second.detail) == ("", "")
            assert "x-only-one" not in second.headers

    run(main())


def test_a_cancelled_fetch_leaves_the_others_alone() -> None:
    async def main() -> None:
        endless = forever(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"x", pause=0.01)
        async with serving(endless) as trap, serving(reply_slowly) as site, fetcher(concurrency=2) as client:
            cancelled = asyncio.create_task(client.fetch(trap.url()))
            await asyncio.sleep(0.1)
            cancelled.cancel()
            with pytest.raises(asyncio.CancelledError):
                await cancelled
            answers = [await client.fetch(site.url(f"/{number}")) for number in range(5)]
            assert [response.failure for response in answers] == [None] * 5

    run(main())


def test_a_fetcher_also_runs_on_the_loop_of_the_standard_library() -> None:
    async def main() -> bytes:
        async with serving(reply_slowly) as site, fetcher() as client:
            return (await client.fetch(site.url())).body

    assert asyncio.run(main()) == b"<p>hello"

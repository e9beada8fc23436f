"""Only a few large bodies are in memory at a time; small bodies never wait for them."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fetch.servers import Disconnect, Reply, Reset, answer, encoded, fetcher, replies, run, serving
from periplus.fetch.client import Fetcher
from periplus.fetch.memory_budget import LARGE, MemoryBudget
from periplus.model import Reason, Response

BODY = random.Random(5).randbytes(3 * LARGE).hex().encode()[: 3 * LARGE]
BUDGET = 4 * LARGE  # bytes; enough for one body


Visits = dict[str, asyncio.Task[Response]]


def start_fetch(client: Fetcher, host: str) -> asyncio.Task[Response]:
    return asyncio.create_task(client.fetch(f"http://{host}.example/"))


async def finished_host(visits: Visits) -> str:
    """Return the host whose fetch is done; the others have had time to finish and must not."""
    await asyncio.wait(visits.values(), return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(0.3)
    (host,) = [host for host, visit in visits.items() if visit.done()]
    return host


async def collect_one_by_one(client: Fetcher, visits: Visits, pause: float = 0.0) -> list[Response]:
    """Return all responses; each body is released before the next one."""
    answers = []
    while visits:
        host = await finished_host(visits)
        answers.append(visits.pop(host).result())
        await asyncio.sleep(pause)
        client.release_body(f"{host}.example")
    return answers


def fetch_one_by_one(reply: Reply, *, pause: float = 0.0, **settings: Any) -> list[Response]:
    async def main() -> list[Response]:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], **{"large_bytes": BUDGET, **settings}) as client,
        ):
            return await collect_one_by_one(client, {host: start_fetch(client, host) for host in "abc"}, pause)

    return run(main())


@pytest.mark.parametrize(
    "reply",
    [
        replies(answer(BODY)),
        encoded(zlib.compress(BODY), "deflate"),
        replies(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", BODY, then=Disconnect),
    ],
    ids=["of known length", "compressed", "of unknown length"],
)
def test_a_large_body_waits_until_the_previous_one_is_released_and_arrives_whole(reply: Reply) -> None:
    assert [response.body for response in fetch_one_by_one(reply)] == [BODY] * 3


def test_a_body_that_was_paused_is_cut_like_any_other() -> None:
    answers = fetch_one_by_one(replies(answer(BODY)), large_bytes=LARGE, html_bytes=LARGE + 5)
    assert [(response.body, response.truncated) for response in answers] == [(BODY[: LARGE + 5], True)] * 3


@pytest.mark.slow
def test_a_pause_does_not_count_towards_the_timeout() -> None:
    answers = fetch_one_by_one(replies(answer(BODY)), pause=2.0, timeout=2.0)
    assert [response.failure for response in answers] == [None] * 3
    assert max(response.seconds for response in answers) < 2.0


def test_small_bodies_do_not_wait_for_large_ones() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY if b"large" in request else BODY[: LARGE - 1])

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=BUDGET) as client,
        ):
            large = {f"large{number}": start_fetch(client, f"large{number}") for number in range(5)}
            small = await asyncio.gather(*(start_fetch(client, f"small{number}") for number in range(5)))
            assert [len(response.body) for response in small] == [LARGE - 1] * 5
            await finished_host(large)

    run(main())


@pytest.mark.slow
def test_a_server_that_is_too_slow_after_the_pause_still_times_out() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY)[: 2 * LARGE]
        await asyncio.sleep(0 if b"first" in request else 60)
        yield answer(BODY)[2 * LARGE :]

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=BUDGET, timeout=2.0) as client,
        ):
            assert (await start_fetch(client, "first")).failure is None
            slow = start_fetch(client, "slow")
            await asyncio.sleep(2.5)
            assert not slow.done()
            client.release_body("first.example")
            assert (await asyncio.wait_for(slow, 10)).failure is Reason.TIMEOUT

    run(main())


def test_a_fetch_that_fails_or_is_cancelled_while_it_waits_frees_its_reservation() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY)[: 2 * LARGE]
        if b"broken" in request:
            await asyncio.sleep(0.2)
            raise Reset
        yield answer(BODY)[2 * LARGE :]

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=BUDGET) as client,
        ):
            await start_fetch(client, "first")
            broken, dropped, last = (start_fetch(client, host) for host in ("broken", "dropped", "last"))
            await asyncio.sleep(0.5)
            dropped.cancel()
            client.release_body("dropped.example")
            client.release_body("first.example")
            assert (await broken).failure is not None  # the fetcher may notice it only now
            client.release_body("broken.example")
            assert (await last).body == BODY

    run(main())


def test_memory_is_reserved_in_order_and_a_body_larger_than_the_budget_gets_all_of_it() -> None:
    budget, resumed = MemoryBudget(10), list[str]()

    def reserve(host: str, size: int) -> bool:
        return budget.reserve(host, size, lambda: resumed.append(host))

    assert [reserve("a", 6), reserve("b", 6), reserve("c", 1), reserve("a", 6)] == [True, False, False, True]
    budget.release("a")
    assert resumed == ["b", "c"]
    assert not reserve("d", 99)
    budget.release("b")
    assert resumed == ["b", "c"]
    budget.release("c")
    assert resumed == ["b", "c", "d"]
    budget.release("unknown")
    budget.release("d")
    assert reserve("e", 10)

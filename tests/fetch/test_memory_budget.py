"""Large bodies are in memory a few at a time; small ones never wait for them."""

from __future__ import annotations

import asyncio
import random
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fetch.servers import HangUp, Reply, Reset, answer, encoded, fetcher, run, says, serving
from periplus.fetch.client import Fetcher
from periplus.fetch.memory_budget import LARGE, MemoryBudget
from periplus.model import Reason, Response

BODY = random.Random(5).randbytes(3 * LARGE).hex().encode()[: 3 * LARGE]
ROOM = 4 * LARGE  # for one of them


Visits = dict[str, asyncio.Task[Response]]


def asked(client: Fetcher, host: str) -> asyncio.Task[Response]:
    return asyncio.create_task(client.fetch(f"http://{host}.example/"))


async def the_one_that_came(visits: Visits) -> str:
    """The host whose body is there; the others have had time to come, too, and are not."""
    await asyncio.wait(visits.values(), return_when=asyncio.FIRST_COMPLETED)
    await asyncio.sleep(0.3)
    (host,) = [host for host, visit in visits.items() if visit.done()]
    return host


async def in_turn(client: Fetcher, visits: Visits, pause: float = 0.0) -> list[Response]:
    """All the answers, each dropped before the next one."""
    answers = []
    while visits:
        host = await the_one_that_came(visits)
        answers.append(visits.pop(host).result())
        await asyncio.sleep(pause)
        client.release_body(f"{host}.example")
    return answers


def all_in_turn(reply: Reply, *, pause: float = 0.0, **settings: Any) -> list[Response]:
    async def main() -> list[Response]:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], **{"large_bytes": ROOM, **settings}) as client,
        ):
            return await in_turn(client, {host: asked(client, host) for host in "abc"}, pause)

    return run(main())


@pytest.mark.parametrize(
    "reply",
    [
        says(answer(BODY)),
        encoded(zlib.compress(BODY), "deflate"),
        says(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", BODY, then=HangUp),
    ],
    ids=["of known length", "compressed", "of unknown length"],
)
def test_a_large_body_waits_until_the_one_before_is_done_with_and_comes_whole(reply: Reply) -> None:
    assert [response.body for response in all_in_turn(reply)] == [BODY] * 3


def test_a_body_that_had_to_wait_is_cut_like_any_other() -> None:
    answers = all_in_turn(says(answer(BODY)), large_bytes=LARGE, html_bytes=LARGE + 5)
    assert [(response.body, response.truncated) for response in answers] == [(BODY[: LARGE + 5], True)] * 3


@pytest.mark.slow
def test_waiting_does_not_count_as_the_server_s_time() -> None:
    answers = all_in_turn(says(answer(BODY)), pause=2.0, timeout=2.0)
    assert [response.failure for response in answers] == [None] * 3
    assert max(response.seconds for response in answers) < 2.0


def test_small_bodies_wait_for_no_large_one() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY if b"large" in request else BODY[: LARGE - 1])

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=ROOM) as client,
        ):
            large = {f"large{number}": asked(client, f"large{number}") for number in range(5)}
            small = await asyncio.gather(*(asked(client, f"small{number}") for number in range(5)))
            assert [len(response.body) for response in small] == [LARGE - 1] * 5
            await the_one_that_came(large)

    run(main())


@pytest.mark.slow
def test_a_server_that_is_too_slow_after_the_wait_is_given_up_all_the_same() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY)[: 2 * LARGE]
        await asyncio.sleep(0 if b"first" in request else 60)
        yield answer(BODY)[2 * LARGE :]

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=ROOM, timeout=2.0) as client,
        ):
            assert (await asked(client, "first")).failure is None
            slow = asked(client, "slow")
            await asyncio.sleep(2.5)
            assert not slow.done()
            client.release_body("first.example")
            assert (await asyncio.wait_for(slow, 10)).failure is Reason.TIMEOUT

    run(main())


def test_one_that_fails_or_is_dropped_while_it_waits_loses_its_place() -> None:
    async def reply(request: bytes) -> AsyncIterator[bytes]:
        yield answer(BODY)[: 2 * LARGE]
        if b"broken" in request:
            await asyncio.sleep(0.2)
            raise Reset
        yield answer(BODY)[2 * LARGE :]

    async def main() -> None:
        async with (
            serving(reply) as site,
            fetcher(connect_to=[f"::127.0.0.1:{site.port}"], large_bytes=ROOM) as client,
        ):
            await asked(client, "first")
            broken, dropped, last = (asked(client, host) for host in ("broken", "dropped", "last"))
            await asyncio.sleep(0.5)
            dropped.cancel()
            client.release_body("dropped.example")
            client.release_body("first.example")
            assert (await broken).failure is not None  # it may find out only now
            client.release_body("broken.example")
            assert (await last).body == BODY

    run(main())


def test_room_goes_to_who_came_first_and_a_body_above_all_room_gets_it_all() -> None:
    budget, resumed = MemoryBudget(10), list[str]()

    def take(host: str, size: int) -> bool:
        return budget.reserve(host, size, lambda: resumed.append(host))

    assert [take("a", 6), take("b", 6), take("c", 1), take("a", 6)] == [True, False, False, True]
    budget.release("a")
    assert resumed == ["b", "c"]
    assert not take("d", 99)
    budget.release("b")
    assert resumed == ["b", "c"]
    budget.release("c")
    assert resumed == ["b", "c", "d"]
    budget.release("unknown")
    budget.release("d")
    assert take("e", 10)

"""A web service is asked under the rules of the crawler, and only its complete answer counts."""

from __future__ import annotations

import time

import pytest

from fetch.servers import Disconnect, Reply, answer, forever, replies, run, serving
from fetch.test_client import PRIVATE
from periplus.fetch.web_service import WebService

JSON = "Content-Type: application/json"


def get_from(reply: Reply, timeout: float = 5.0) -> bytes | None:
    async def main() -> bytes | None:
        async with serving(reply) as site:
            return await WebService(site.url("").rstrip("/"), timeout).get("/v1/data?x=1")

    return run(main())


def test_the_answer_of_a_service_is_returned() -> None:
    assert get_from(replies(answer(b'{"a":1}', JSON))) == b'{"a":1}'


@pytest.mark.parametrize("status", ["400 Bad Request", "429 Too Many Requests", "500 Internal Server Error", "204 No"])
def test_any_other_status_is_no_answer(status: str) -> None:
    assert get_from(replies(answer(b"{}", JSON, status=status))) is None


def test_a_redirect_is_not_followed() -> None:
    async def main() -> None:
        async with serving(replies(answer(b"{}", JSON))) as other:
            moved = replies(answer(b"", f"Location: {other.url()}", status="302 Found"))
            async with serving(moved) as site:
                assert await WebService(site.url(""), 5.0).get("/") is None
            assert other.connections == 0

    run(main())


def test_an_answer_over_64_kb_is_refused() -> None:
    assert get_from(replies(answer(b"x" * (64 << 10), JSON))) is not None
    assert get_from(replies(answer(b"x" * ((64 << 10) + 1), JSON))) is None
    assert get_from(forever(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b"x" * 9_999)) is None


def test_an_answer_that_is_cut_short_is_no_answer() -> None:
    assert get_from(replies(answer(b'{"a":1}', JSON)[:-3], then=Disconnect)) is None


def test_a_slow_service_is_left_after_its_time_limit() -> None:
    begun = time.monotonic()
    assert get_from(forever(b"HTTP/1.1 200 OK\r\n", b"X: 1\r\n", pause=0.05), timeout=0.3) is None
    assert time.monotonic() - begun < 5


def test_a_service_that_is_not_there_is_no_answer() -> None:
    async def main() -> bytes | None:
        async with serving(replies(b"")) as site:
            address = site.url("")
        return await WebService(address, 5.0).get("/")

    assert run(main()) is None


NAMED = ("http://127.0.0.1:{}/", "http://localhost:{}/", "http://[::1]:{}/")


def test_only_an_owner_who_names_this_machine_exactly_reaches_it() -> None:
    """Any other spelling could be a name that its owner lets point to this machine."""

    async def main() -> None:
        async with serving(replies(answer(b"{}", JSON))) as canary:
            others = [url for url in PRIVATE if url not in NAMED]
            for url in (*others, "http://localhost.:{}/", "http://169.254.169.254:{}/"):
                assert await WebService(url.format(canary.port), 5.0).get("/") is None, url
            assert canary.connections == 0
            assert await WebService(NAMED[0].format(canary.port), 5.0).get("/") == b"{}"
            assert await WebService(NAMED[1].format(canary.port), 5.0).get("/") == b"{}"

    run(main())

"""A transfer ends by itself, by its timeout, when cancelled or when all are closed; its future is always done."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

import pycurl
import pytest

from periplus.fetch.multi import CurlMulti


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that accepts requests and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


def request(url: str, milliseconds: int = 60_000) -> pycurl.Curl:
    curl = pycurl.Curl()
    for option, value in ((pycurl.URL, url), (pycurl.TIMEOUT_MS, milliseconds), (pycurl.PROXY, "")):
        curl.setopt(option, value)
    return curl


async def code_of(transfer: asyncio.Future[None]) -> int:
    with pytest.raises(pycurl.error) as caught:
        await asyncio.wait_for(transfer, 30)
    return int(caught.value.args[0])


def test_a_later_timeout_does_not_hide_an_earlier_one(silent: str) -> None:
    async def wait() -> list[int]:
        transfers = CurlMulti(4)
        slow = transfers.start(request(silent))
        ended = [await code_of(transfers.start(request(silent, limit))) for limit in (300, 50, 200)]
        assert not slow.done()
        transfers.close()
        return ended

    assert asyncio.run(wait()) == [pycurl.E_OPERATION_TIMEDOUT] * 3


def test_a_cancelled_transfer_leaves_the_others_alone_and_close_ends_all(silent: str) -> None:
    async def wait() -> None:
        transfers = CurlMulti(4)
        curl = request(silent)
        dropped, left = transfers.start(curl), transfers.start(request(silent))
        dropped.cancel()
        transfers.cancel(curl)
        transfers.cancel(curl)
        assert await code_of(transfers.start(request(silent, 50))) == pycurl.E_OPERATION_TIMEDOUT
        assert not left.done()
        transfers.close()
        assert left.cancelled()

    asyncio.run(wait())


def test_when_libcurl_itself_fails_all_transfers_fail(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, multi: pycurl.CurlMulti) -> None:
            self.remove_handle, self.close = multi.remove_handle, multi.close

        def socket_action(self, _descriptor: int, _ready: int) -> None:
            raise pycurl.error(4, "internal error")

    async def wait() -> list[int]:
        transfers = CurlMulti(4)
        under_way = [transfers.start(request(silent)) for _ in range(3)]
        monkeypatch.setattr(transfers, "_multi", Broken(transfers._multi))
        ended = [await code_of(transfer) for transfer in under_way]
        transfers.close()
        return ended

    assert asyncio.run(wait()) == [4, 4, 4]

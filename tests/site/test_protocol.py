"""A client can neither send an endless request head nor hold a connection with a slow one; answers are one packet."""

from __future__ import annotations

import asyncio
import http.client
import socket
import time
from collections.abc import AsyncIterator, Iterable, Iterator

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from periplus.site import protocol
from web.engines import FakeEngine
from web.serving import Site, searching, serving


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.4)
    with searching(FakeEngine()) as served:
        yield served


def everything(connection: socket.socket) -> bytes:
    received = b""
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:  # it closed while we were still sending
        pass
    return received


@pytest.mark.parametrize("start", [b"GET /", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\n", b"\r\n"])
def test_an_endless_head_is_cut_off(site: Site, start: bytes) -> None:
    with site.connect() as connection:
        connection.sendall(start)
        filler = b"X: y\r\n" * 170 if start.endswith(b"\n") else b"a" * 1_000
        sent = 0
        try:
            while sent < 4_000_000:
                connection.sendall(filler)
                sent += len(filler)
        except OSError:
            pass
        assert sent < 4_000_000
        assert everything(connection)[:12] in {b"HTTP/1.1 431", b"HTTP/1.1 400", b""}
    assert site.get("/").status == 200


@pytest.mark.parametrize("words", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: a\r\n"])
def test_a_client_that_stops_talking_is_let_go(site: Site, words: bytes) -> None:
    with site.connect() as connection:
        connection.sendall(words)
        begun = time.monotonic()
        assert everything(connection) == b""
        assert time.monotonic() - begun < 15


def test_a_client_that_talks_slowly_is_let_go(site: Site) -> None:
    begun = time.monotonic()
    with site.connect() as connection, pytest.raises(OSError, match=r"Broken pipe|reset"):
        dribble(connection, b"GET / HTTP/1.1\r\nHost: " + 200 * b"a")
    assert time.monotonic() - begun < 15


def dribble(connection: socket.socket, words: bytes) -> None:
    for letter in words:
        connection.sendall(bytes([letter]))
        time.sleep(0.05)


def test_many_requests_on_one_connection_are_not_a_long_head(site: Site) -> None:
    expected = site.get("/robots.txt").body
    client = http.client.HTTPConnection(site.host, site.port, timeout=10)
    for _ in range(100):
        client.request("GET", "/robots.txt", headers={"X": 1_000 * "x"})
        response = client.getresponse()
        assert (response.status, response.read()) == (200, expected)
    client.close()


def test_many_requests_at_once_on_one_connection_are_all_answered(site: Site) -> None:
    last = b"GET /robots.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with site.connect() as connection:
        connection.sendall(20 * b"GET /robots.txt HTTP/1.1\r\nHost: a\r\n\r\n" + last)
        assert everything(connection).count(b"HTTP/1.1 200") == 21


def test_a_request_that_takes_long_to_answer_is_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.2)
    with searching(FakeEngine(before=lambda: time.sleep(0.6))) as site:
        assert site.get("/api/search?q=x").status == 200


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\xff\xfe\r\n\r\n",
        b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"* * *\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(site: Site, request_bytes: bytes) -> None:
    with site.connect() as connection:
        connection.sendall(request_bytes)
        assert everything(connection)[:12] in {b"HTTP/1.1 400", b"HTTP/1.1 404", b""}
    assert site.get("/").status == 200


def test_a_large_form_may_arrive_together_with_its_head(site: Site) -> None:
    body = b"a" * 200_000
    head = f"POST /nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with site.connect() as connection:
        connection.sendall(head + body)
        assert everything(connection).startswith(b"HTTP/1.1 404")


def test_a_complete_head_that_is_too_large_is_refused(site: Site) -> None:
    with site.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000 + b"\r\n\r\n")
        assert everything(connection).startswith(b"HTTP/1.1 431")


REQUEST = b"%s / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class RecordingTransport(asyncio.Transport):
    """Keeps what is written, call by call."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.written.append(b"".join(list_of_data))

    def is_closing(self) -> bool:
        return False


def test_head_and_body_of_an_answer_are_one_write() -> None:
    async def main() -> list[bytes]:
        transport = RecordingTransport()
        response = protocol.HeadWithBody(transport, asyncio.get_running_loop())
        for part in (b"head ", b"body ", b"more"):
            response.write(part)
        await asyncio.sleep(0)
        return transport.written

    assert asyncio.run(main()) == [b"head body ", b"more"]


def test_the_head_of_a_response_does_not_wait_for_a_late_body() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        more = asyncio.Event()

        async def parts() -> AsyncIterator[bytes]:
            await more.wait()
            yield b"found"

        asyncio.get_running_loop().call_later(1.0, more.set)
        await StreamingResponse(parts(), headers={"content-length": "5"})(scope, receive, send)

    with serving(app) as site, site.connect() as connection:
        connection.sendall(REQUEST % b"GET")
        assert connection.recv(65_536).endswith(b"\r\n\r\n")
        assert connection.recv(65_536) == b"found"


def test_an_answer_that_ends_its_connection_is_complete() -> None:
    with serving(Response("found")) as site, site.connect() as connection:
        connection.sendall((REQUEST % b"GET").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        assert everything(connection).endswith(b"\r\n\r\nfound")

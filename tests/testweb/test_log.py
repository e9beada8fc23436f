"""The log records exactly what a client did."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from testweb import Page, RequestLog, Site, TestWeb, ask, mesh


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test"), Site("b.test")]) as running:
        yield running


def test_one_connection_carries_many_requests(web: TestWeb) -> None:
    client = http.client.HTTPConnection("127.0.0.1", web.http_port)
    for _ in range(3):
        client.request("GET", "/", headers={"Host": "a.test", "User-Agent": "Sailor/1"})
        client.getresponse().read()
    client.close()
    entries = web.log.entries("a.test")
    assert {(entry.connection, entry.user_agent, entry.status) for entry in entries} == {(1, "Sailor/1", 404)}
    assert all(entry.complete and entry.finished and entry.started <= entry.finished for entry in entries)
    ask(web, "http://a.test/")
    assert len(web.log.connections("a.test")) == 2
    assert web.log.max_connections("a.test") == 1


def test_pipelined_requests_are_answered_in_order(web: TestWeb) -> None:
    web.site("a.test").pages.update({"/1": Page(body=b"one", delay=0.05), "/2": Page(body=b"two")})
    head = b"GET /%d HTTP/1.1\r\nHost: a.test\r\n%b\r\n"
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=5) as channel:
        channel.sendall(head % (1, b"") + head % (2, b"Connection: close\r\n"))
        got = b"".join(iter(lambda: channel.recv(65536), b""))
    assert got.index(b"one") < got.index(b"two")


@pytest.mark.parametrize("line", [b"GET a.test HTTP/1.1", b"hello", b"GET / HTTP/2", b"GET /a b HTTP/1.1"])
def test_a_malformed_request_gets_400_and_is_logged(web: TestWeb, line: bytes) -> None:
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=5) as channel:
        channel.sendall(line + b"\r\nHost: a.test\r\n\r\n")
        assert channel.recv(65536).startswith(b"HTTP/1.1 400 ")
    assert [entry.status for entry in web.log.entries()] == [400]


def test_the_log_counts_and_excludes_robots(web: TestWeb) -> None:
    for url in (
        "http://a.test/robots.txt",
        "http://a.test/",
        "http://a.test/?x=1",
        "http://b.test/",
        "http://a.test/",
    ):
        ask(web, url)
    assert web.log.paths("a.test") == ["/robots.txt", "/", "/?x=1", "/"]
    assert (web.log.count("a.test"), web.log.count("a.test", "/")) == (4, 2)
    assert web.log.fetched() == {"http://a.test/": 2, "http://a.test/?x=1": 1, "http://b.test/": 1}
    assert web.log.fetched(robots=True)["http://a.test/robots.txt"] == 1
    web.log.clear()
    assert web.log.entries() == []


def test_the_log_shows_gaps_and_concurrency(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page(delay=1.0)
    with ThreadPoolExecutor(3) as pool:
        for _ in range(3):
            pool.submit(ask, web, "http://a.test/")
            time.sleep(0.04)
    ask(web, "http://b.test/")
    gaps = web.log.gaps("a.test")
    assert len(gaps) == 2
    assert all(0.02 < gap < 1.0 for gap in gaps)
    assert (web.log.max_concurrent("a.test"), web.log.max_connections("a.test")) == (3, 3)
    assert (web.log.max_concurrent("b.test"), web.log.max_connections("b.test")) == (1, 1)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_connections_in_quick_succession_never_seem_to_overlap(scheme: str) -> None:
    with TestWeb([Site("a.test")], https=True) as web:
        for _ in range(50):
            ask(web, f"{scheme}://a.test/")
        assert len(web.log.connections("a.test")) == 50
        assert web.log.max_connections("a.test") == 1


def test_a_client_that_gives_up_is_seen(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page(size=100_000_000)
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=5) as channel:
        channel.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        web.log.wait_for(1)
        channel.recv(1000)
        assert web.log.entries()[0].finished is None
    deadline = time.monotonic() + 5
    while web.log.entries()[0].finished is None and time.monotonic() < deadline:
        time.sleep(0.005)
    entry = web.log.entries()[0]
    assert (entry.status, entry.complete, entry.finished is not None) == (200, False, True)


def test_waiting_for_requests_that_never_come_says_how_many_came(web: TestWeb) -> None:
    threading.Timer(0.05, ask, (web, "http://a.test/")).start()
    web.log.wait_for(1, timeout=5)
    with pytest.raises(TimeoutError, match="1 of 2 requests"):
        web.log.wait_for(2, timeout=0.05)


def test_the_log_file_holds_the_same_truth(tmp_path: Path) -> None:
    file = tmp_path / "web.log"
    with TestWeb([mesh("a.test", 5)], log_file=file) as web:
        for path in ("/", "/page/1", "/nothing"):
            ask(web, f"http://a.test{path}", {"X-Test": "é"})
        assert RequestLog.read(file).entries() == web.log.entries()
    with file.open("a") as torn:
        torn.write('{"number": 4, "requ')
    assert RequestLog.read(file).entries() == web.log.entries()
    assert RequestLog.read(file).connections() == web.log.connections()


def test_an_outage_refuses_connections_and_ends_on_the_same_port(web: TestWeb) -> None:
    before = web.connect_to
    with web.outage(), pytest.raises(ConnectionRefusedError):
        ask(web, "http://a.test/")
    assert ask(web, "http://a.test/")[0].status == 404
    assert web.connect_to == before

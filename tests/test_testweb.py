"""Does the test web answer as it was described?"""

from __future__ import annotations

import gzip
import http.client
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from testweb import Page, RequestLog, Site, TestWeb, ask

MONDAY = datetime(2024, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC)
TESTS = Path(__file__).parent


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test"), Site("b.test")]) as running:
        yield running


def test_a_page_is_answered_by_host_and_path(web: TestWeb) -> None:
    web.site("a.test").pages["/x?q=1"] = Page("A & B", "one\n\ntwo <three>", links=["/y", ("/z", "Zed")])
    response, body = ask(web, "http://a.test/x?q=1")
    assert (response.status, response.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>A &amp; B</title>" in body
    assert b"<p>one</p>\n<p>two &lt;three&gt;</p>" in body
    assert b'<a href="/y">/y</a>' in body
    assert b'<a href="/z">Zed</a>' in body
    assert ask(web, "http://b.test/x?q=1")[0].status == 404
    assert ask(web, "http://a.test/x")[0].status == 404
    assert ask(web, "http://nowhere.test/")[0].status == 421


def test_a_page_can_be_changed_and_removed_while_the_web_runs(web: TestWeb) -> None:
    pages = web.site("a.test").pages
    for version in ("one", "two"):
        pages["/"] = Page(text=version)
        assert version.encode() in ask(web, "http://a.test/")[1]
    del pages["/"]
    assert ask(web, "http://a.test/")[0].status == 404


@pytest.mark.parametrize(
    ("robots", "status", "body"),
    [
        (None, 404, None),
        ("User-agent: *\nDisallow: /x", 200, b"User-agent: *\nDisallow: /x"),
        (Page(status=503), 503, None),
    ],
)
def test_robots_may_be_text_a_page_or_missing(
    web: TestWeb, robots: str | Page | None, status: int, body: bytes | None
) -> None:
    web.add(Site("r.test", robots=robots))
    response, got = ask(web, "http://r.test/robots.txt")
    assert response.status == status
    assert body in (None, got)


def test_status_headers_and_redirects_are_sent_as_described(web: TestWeb) -> None:
    pages = web.site("a.test").pages
    pages["/moved"] = Page(redirect="//b.test/new", status=301)
    pages["/found"] = Page(redirect="file:///etc/passwd")
    pages["/odd"] = Page(status=299, headers=[("X-Robots-Tag", "noindex"), ("X-Robots-Tag", "nofollow")])
    pages["/raw"] = Page(body=b"\x00\xff", content_type="", headers={"server": "mine"})
    moved, found = ask(web, "http://a.test/moved")[0], ask(web, "http://a.test/found")[0]
    assert (moved.status, moved.headers["Location"]) == (301, "//b.test/new")
    assert (found.status, found.headers["Location"]) == (302, "file:///etc/passwd")
    odd = ask(web, "http://a.test/odd")[0]
    assert (odd.status, odd.headers.get_all("X-Robots-Tag")) == (299, ["noindex", "nofollow"])
    raw, body = ask(web, "http://a.test/raw")
    assert (body, raw.headers["Content-Type"], raw.headers.get_all("Server")) == (b"\x00\xff", None, ["mine"])


def test_head_answers_like_get_without_the_body(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page("Home", size=5000)
    response, body = ask(web, "http://a.test/", method="HEAD")
    assert (response.status, response.headers["Content-Length"], body) == (200, "5000", b"")
    assert ask(web, "http://a.test/", method="POST")[0].status == 405


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": '"v1"'}, 304),
        ({"If-None-Match": '"v0", W/"v1"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"v0"'}, 200),
        ({"If-Modified-Since": "Mon, 01 Jan 2024 12:00:00 GMT"}, 304),
        ({"If-Modified-Since": "Mon, 01 Jan 2024 11:59:59 GMT"}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        ({"If-None-Match": '"v0"', "If-Modified-Since": "Mon, 01 Jan 2024 12:00:00 GMT"}, 200),
        ({}, 200),
    ],
)
def test_an_unchanged_page_answers_304(web: TestWeb, headers: dict[str, str], status: int) -> None:
    web.site("a.test").pages["/"] = Page("Home", etag="v1", last_modified=MONDAY)
    response, body = ask(web, "http://a.test/", headers)
    assert (response.status, response.headers["ETag"]) == (status, '"v1"')
    assert response.headers["Last-Modified"] == "Mon, 01 Jan 2024 12:00:00 GMT"
    assert bool(body) == (status == 200)


def test_a_gone_page_is_never_304(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page(status=410, etag="v1")
    assert ask(web, "http://a.test/", {"If-None-Match": '"v1"'})[0].status == 410


def test_gzip_is_sent_only_to_clients_that_accept_it(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page("Home", encoding="gzip", size=3000)
    plain, body = ask(web, "http://a.test/", {"Accept-Encoding": "identity"})
    packed, small = ask(web, "http://a.test/", {"Accept-Encoding": "br, gzip"})
    assert (plain.headers["Content-Encoding"], len(body)) == (None, 3000)
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small) == body


def test_large_and_chunked_bodies_arrive_whole(web: TestWeb) -> None:
    text = "x" * 200_000
    web.site("a.test").pages["/"] = Page(body=text, size=300_000, chunked=True)
    response, body = ask(web, "http://a.test/")
    assert (response.headers["Content-Length"], body) == (None, text.encode() + b" " * 100_000)


def test_delay_and_drip_take_their_time(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page(body=b"x" * 200, delay=0.1, drip=1000)
    start = time.monotonic()
    assert ask(web, "http://a.test/")[1] == b"x" * 200
    assert 0.3 <= time.monotonic() - start < 10


def test_sites_are_found_by_port_wildcard_and_scheme() -> None:
    sites = [
        Site("*.farm.test", {"/": Page("farm")}),
        Site("x.farm.test", {"/": Page("x")}),
        Site("x.farm.test:8080", {"/": Page("port")}),
        Site("two.test", {"/": Page(redirect="https://two.test/")}, scheme="http"),
        Site("two.test", {"/": Page("secure")}, scheme="https"),
    ]
    with TestWeb(sites, https=True) as web:
        for host, title in (
            ("y.z.farm.test", b"farm"),
            ("X.farm.test.", b"x"),
            ("x.farm.test:8080", b"port"),
        ):
            assert b"<title>%b</title>" % title in ask(web, f"http://{host}/")[1]
        assert ask(web, "http://two.test/")[0].status == 302
        assert b"secure" in ask(web, "https://two.test/")[1]
        assert web.site("https://two.test").pages["/"].title == "secure"
        assert web.log.entries("x.farm.test")[-1].url == "http://x.farm.test:8080/"


def test_the_command_serves_until_interrupted(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    command = [
        sys.executable,
        "-m",
        "testweb",
        "--shape",
        "mesh",
        "--pages",
        "20",
        "--hosts",
        "2",
        "--log",
        str(log),
    ]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        flags = child.stdout.readline()
        match = re.fullmatch(r"--connect-to :80:127\.0\.0\.1:(\d+)\n", flags)
        assert match, flags
        client = http.client.HTTPConnection("127.0.0.1", int(match[1]))
        client.request("GET", "/page/3", headers={"Host": "h0002.test"})
        assert client.getresponse().status == 200
        client.close()
        assert RequestLog.read(log).fetched() == {"http://h0002.test/page/3": 1}
        child.send_signal(2)
        assert child.wait(5) == 0


def test_it_is_fast_enough_for_large_crawls(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page("Home", "small")
    batch = 500
    request = b"GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: Sailor/1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=5) as channel:
        start = time.process_time()
        channel.sendall(request * batch)
        seen, tail = 0, b""
        while seen < batch:
            data = tail + channel.recv(1 << 20)
            seen += data.count(b"HTTP/1.1 200 OK")
            tail = data[-14:]
    assert (time.process_time() - start) / batch < 1 / 1000  # CPU time, server and client together

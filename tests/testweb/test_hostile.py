"""Bad servers and bad certificates misbehave exactly as described."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
import zlib
from collections.abc import Iterator

import pytest

from testweb import Page, Request, Site, TestWeb, Writer, ask, hostile


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test"), Site("b.test")]) as running:
        yield running


@pytest.fixture(scope="module")
def secure() -> Iterator[TestWeb]:
    sites = [
        Site("good.test", {"/": Page("Good")}),
        Site("old.test", certificate="expired"),
        Site("other.test", certificate="wrong-name"),
        Site("own.test", certificate="self-signed"),
    ]
    with TestWeb(sites, https=True) as running:
        yield running


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("old.test", "certificate has expired"),
        ("other.test", "Hostname mismatch"),
        ("own.test", "self-signed certificate"),
    ],
)
def test_bad_certificates_are_refused_for_their_reason(secure: TestWeb, host: str, reason: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match=reason):
        ask(secure, f"https://{host}/")


def test_https_speaks_http_1_under_a_valid_certificate(secure: TestWeb) -> None:
    context = ssl.create_default_context(cafile=str(secure.ca_file))
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["h2", "http/1.1"])
    raw = socket.create_connection(("127.0.0.1", secure.https_port), timeout=5)
    with context.wrap_socket(raw, server_hostname="good.test") as channel:
        assert channel.selected_alpn_protocol() == "http/1.1"
        assert dict(channel.getpeercert() or {})["subjectAltName"] == (("DNS", "good.test"),)
    assert ask(secure, "https://good.test/")[0].status == 200
    assert secure.log.entries("good.test")[-1].url == "https://good.test/"
    assert secure.connect_to == [f":80:127.0.0.1:{secure.http_port}", f":443:127.0.0.1:{secure.https_port}"]


def test_a_web_without_https_says_how_to_get_a_ca(web: TestWeb) -> None:
    with pytest.raises(RuntimeError, match="https=True"):
        _ = web.ca_file


def test_a_handshake_nobody_goes_on_with_does_not_hold_up_the_end() -> None:
    with TestWeb(https=True) as web:
        lazy = socket.create_connection(("127.0.0.1", web.https_port), timeout=5)
        time.sleep(0.02)
    lazy.close()


def misbehave(web: TestWeb, name: str) -> bytes:
    """Return all bytes that a client gets from one hostile handler, 1 MB at most."""
    web.site("a.test").pages["/"] = Page(handler=getattr(hostile, name))
    got = b""
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=5) as channel:
        channel.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        while len(got) < 1_000_000 and (data := channel.recv(65536)):
            got += data
    return got


def test_hostile_answers_are_as_bad_as_they_claim(web: TestWeb) -> None:
    assert misbehave(web, "hang_up") == b""
    assert not misbehave(web, "not_http").startswith(b"HTTP")
    assert len(misbehave(web, "short_body")) < 2000
    assert len(misbehave(web, "long_body")) > 60_000
    assert b"ffffffff\r\n" in misbehave(web, "false_chunk")
    assert len(misbehave(web, "endless_body")) >= 1_000_000
    assert b"\r\n\r\n" not in misbehave(web, "endless_headers")
    bomb = misbehave(web, "gzip_bomb").partition(b"\r\n\r\n")[2]
    assert len(zlib.decompressobj(47).decompress(bomb[:100_000])) > 50_000_000
    for name in ("reset", "reset_midway"):
        with pytest.raises(ConnectionResetError):
            misbehave(web, name)
    assert [entry.status for entry in web.log.entries()] == [0, 0, 200, 200, 200, 200, 200, 200, 0, 200]


def test_a_reset_reaches_the_client_over_tls(secure: TestWeb) -> None:
    secure.site("good.test").pages["/reset"] = Page(handler=hostile.reset)
    with pytest.raises(ConnectionResetError):
        ask(secure, "https://good.test/reset")


def test_silence_lasts_until_the_client_gives_up(web: TestWeb) -> None:
    web.site("a.test").pages["/"] = Page(handler=hostile.silence)
    with socket.create_connection(("127.0.0.1", web.http_port), timeout=0.1) as channel:
        channel.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        with pytest.raises(TimeoutError):
            channel.recv(1)
    assert web.log.entries()[0].status == 0


def test_a_server_that_recovers_answers_in_turn(web: TestWeb) -> None:
    pages = (Page(status=503, headers={"Retry-After": "1"}), Page("Back"))
    web.site("a.test").pages["/"] = Page(handler=hostile.in_turn(*pages))
    assert [ask(web, "http://a.test/")[0].status for _ in range(3)] == [503, 200, 200]


def test_a_handler_sees_the_request_and_its_mistakes_fail_the_test() -> None:
    async def mirror(request: Request, writer: Writer) -> Page:
        return Page(body=json.dumps([request.host, request.path, request.headers["x-test"]]))

    async def broken(request: Request, writer: Writer) -> None:
        raise ZeroDivisionError

    web = TestWeb([Site("a.test", {"/m?x": Page(handler=mirror), "/b": Page(handler=broken)})])
    web.__enter__()
    assert json.loads(ask(web, "http://a.test/m?x", {"X-Test": "y"})[1]) == ["a.test", "/m?x", "y"]
    with pytest.raises(http.client.RemoteDisconnected):
        ask(web, "http://a.test/b")
    with pytest.raises(ZeroDivisionError):
        web.__exit__(None, None, None)

"""The fetcher sends well-formed requests, and only to allowed addresses."""

from __future__ import annotations

import pytest

from fetch.servers import AGENT, answer, fetch_from, fetcher, replies, run, serving
from periplus.config import Fetching
from periplus.fetch.client import Fetcher
from periplus.fetch.response_limits import Purpose
from periplus.model import Reason, Response

PAGE = replies(answer(b"<p>hello"))


# --- the request ---


def test_the_request_is_archived_exactly_as_the_server_got_it() -> None:
    async def main() -> None:
        async with serving(PAGE) as site, fetcher() as client:
            plain = await client.fetch(site.url("/a%20b/?q=1&r='"))
            conditional = await client.fetch(
                site.url("/c"), etag='W/"1"', last_modified="Sun, 06 Nov 1994 08:49:37 GMT"
            )
            later = await client.fetch(site.url("/d/../e"))
            assert [plain.request, conditional.request, later.request] == site.requests
            assert plain.request.startswith(b"GET /a%20b/?q=1&r=' HTTP/1.1\r\nHost: 127.0.0.1:")
            assert f"User-Agent: {AGENT}\r\n".encode() in plain.request
            assert (
                b'If-None-Match: W/"1"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n' in conditional.request
            )
            assert b"If-" not in later.request
            assert b"GET /d/../e " in later.request

    run(main())


def test_a_page_that_has_not_changed_costs_no_body() -> None:
    response = fetch_from(replies(answer(b"", 'ETag: "1"', status="304 Not Modified")))
    assert (response.status, response.body, response.failure) == (304, b"", None)


@pytest.mark.parametrize("value", ["x\r\nX-Evil: 1", "x\ny", "x\0", "\u2028", "é"])
def test_a_validator_cannot_smuggle_a_header(value: str) -> None:
    async def main() -> None:
        async with serving(PAGE) as site, fetcher() as client:
            response = await client.fetch(site.url(), etag=value, last_modified=value)
            assert response.failure is None
            assert b"If-" not in site.requests[0]
            assert b"Evil" not in site.requests[0]

    run(main())


def test_no_cookie_is_ever_sent_back() -> None:
    async def main() -> None:
        async with (
            serving(replies(answer(b"", "Content-Type: text/html", "Set-Cookie: a=b"))) as site,
            fetcher() as client,
        ):
            await client.fetch(site.url("/1"))
            await client.fetch(site.url("/2"))
            assert len(site.requests) == 2
            assert b"ookie" not in b"".join(site.requests)

    run(main())


def test_the_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving(PAGE) as proxy, serving(PAGE) as site:
            for name in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url())
            async with fetcher() as client:
                assert (await client.fetch(site.url())).failure is None
            assert (proxy.connections, site.connections) == (0, 1)

    run(main())


def test_a_request_after_a_post_request_is_a_plain_get_again() -> None:
    async def main() -> None:
        async with serving(PAGE) as site, fetcher() as client:
            assert (await client.post(site.url("/a"), b"", "application/json")).failure is None
            assert (await client.fetch(site.url("/b"))).failure is None
            post, get = site.requests
            assert post.startswith(b"POST /a HTTP/1.1\r\n")
            assert get.startswith(b"GET /b HTTP/1.1\r\n")
            assert b"Content-" in post
            assert b"Content-" not in get

    run(main())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/_x",
        "javascript:alert(1)",
        "http://127.0.0.1",
        "http:///",
        "http://a b/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nX: 1",
        "http://127.0.0.1/\0",
        "http://bücher.example/",
        "http://127.0.0.1:99999/",
        "http://[::1/",
    ],
)
def test_a_url_that_is_not_canonical_is_not_requested(url: str) -> None:
    async def main() -> Response:
        async with fetcher() as client:
            return await client.fetch(url)

    response = run(main())
    assert (response.url, response.failure, response.status) == (url, Reason.NOT_WEB, 0)
    assert response.detail


# --- allowed addresses ---


PRIVATE = [
    "http://127.0.0.1:{}/", "http://localhost:{}/", "http://[::1]:{}/", "http://[::ffff:127.0.0.1]:{}/", "http://0.0.0.0:{}/",
    "http://[::]:{}/", "http://127.1:{}/", "http://2130706433:{}/", "http://0x7f.1:{}/", "http://017700000001:{}/",
    "http://[64:ff9b::7f00:1]:{}/", "http://[2002:7f00:1::]:{}/", "http://[::127.0.0.1]:{}/", "http://127.0.0.1.:{}/",
]  # fmt: skip


def test_a_private_address_is_refused_before_anything_is_sent() -> None:
    async def main() -> None:
        async with serving(PAGE) as canary, Fetcher(Fetching(), AGENT, public_allowed=True) as client:
            for purpose in Purpose:
                answers = [await client.fetch(url.format(canary.port), purpose=purpose) for url in PRIVATE]
                assert {response.failure for response in answers} == {Reason.PRIVATE_ADDRESS}
                assert "127.0.0.1 is a private address; add --allow-private to crawl it" in answers[0].detail
                assert not any(response.ip for response in answers)
            assert canary.connections == 0

    run(main())


def test_a_public_address_is_refused_while_no_contact_is_set() -> None:
    async def main() -> Response:
        async with fetcher(public_allowed=False) as client:
            return await client.fetch("http://93.184.215.14/")

    response = run(main())
    assert (response.failure, response.ip) == (Reason.NO_CONTACT, "")
    assert response.seconds < 5


def test_connect_to_connects_to_another_address_and_requests_the_same_host() -> None:
    async def main() -> None:
        async with serving(PAGE) as site, fetcher(connect_to=[f"example.org:80:127.0.0.1:{site.port}"]) as client:
            response = await client.fetch("http://example.org/page")
            assert (response.failure, response.ip) == (None, "127.0.0.1")
            assert b"Host: example.org\r\n" in site.requests[0]

    run(main())


def test_connect_to_does_not_bypass_the_address_check() -> None:
    async def main() -> None:
        async with serving(PAGE) as canary:
            settings = Fetching(connect_to=[f"::127.0.0.1:{canary.port}"])
            async with Fetcher(settings, AGENT, public_allowed=True) as client:
                response = await client.fetch("http://example.org/")
            assert (response.failure, canary.connections) == (Reason.PRIVATE_ADDRESS, 0)

    run(main())


# --- failures without a response ---


def test_a_host_without_an_address_is_a_dns_failure() -> None:
    async def main() -> Response:
        async with fetcher() as client:
            return await client.fetch("http://nowhere.onion/")  # such names are never looked up

    response = run(main())
    assert (response.failure, response.status, response.ip) == (Reason.DNS, 0, "")


def test_a_closed_port_is_a_connection_failure() -> None:
    async def main() -> Response:
        async with serving(PAGE) as site:
            url = site.url()
        async with fetcher() as client:
            return await client.fetch(url)

    response = run(main())
    assert (response.failure, response.status) == (Reason.CONNECT, 0)
    assert "connect" in response.detail.lower()

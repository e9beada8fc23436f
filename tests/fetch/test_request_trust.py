"""A server is trusted only with a certificate of a trusted authority."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import certifi
import pytest

from fetch.certificates import Authority
from fetch.servers import Http2Site, answer, fetcher, replies, run, serving
from periplus.errors import ConfigError
from periplus.fetch.certificates import certificate_authorities
from periplus.model import Reason, Response

PAGE = replies(answer(b"<p>safe"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("certificates"))


def fetch_over_tls(context: ssl.SSLContext, trusted: Path | str) -> Response:
    async def main() -> Response:
        async with serving(PAGE, context) as site:
            rule = f"safe.example:443:127.0.0.1:{site.port}"
            async with fetcher(ca_file=str(trusted), connect_to=[rule]) as client:
                return await client.fetch("https://safe.example/")

    return run(main())


def test_a_page_is_fetched_over_a_connection_with_a_valid_certificate(authority: Authority) -> None:
    response = fetch_over_tls(authority.server("safe.example"), authority.file)
    assert (response.body, response.failure, response.ip) == (b"<p>safe", None, "127.0.0.1")


def test_an_expired_certificate_is_refused(authority: Authority) -> None:
    response = fetch_over_tls(authority.server("safe.example", expired=True), authority.file)
    assert (response.failure, response.status) == (Reason.TLS_EXPIRED, 0)
    assert "expired" in response.detail


def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    response = fetch_over_tls(authority.server("other.example"), authority.file)
    assert (response.failure, response.status) == (Reason.TLS_NAME, 0)


def test_a_certificate_of_an_unknown_authority_is_refused(authority: Authority, tmp_path: Path) -> None:
    for trusted in (Authority(tmp_path, "stranger").file, ""):
        response = fetch_over_tls(authority.server("safe.example"), trusted)
        assert (response.failure, response.status) == (Reason.TLS_ISSUER, 0)


def test_an_invalid_certificate_may_be_recorded_instead(authority: Authority, tmp_path: Path) -> None:
    """One failed handshake shows the problem; after that the host is fetched on one connection, like any other."""
    stranger = Authority(tmp_path, "stranger")
    for context, problem in (
        (authority.server("safe.example", expired=True), "tls_expired (SSL certificate"),
        (authority.server("other.example"), "tls_name (SSL: no alternative certificate subject name matches"),
        (stranger.server("safe.example"), "tls_issuer (SSL certificate"),
    ):

        async def main(context: ssl.SSLContext = context) -> tuple[list[Response], int]:
            async with serving(PAGE, context) as site:
                rule = f"safe.example:443:127.0.0.1:{site.port}"
                settings: dict[str, Any] = {
                    "ca_file": str(authority.file),
                    "connect_to": [rule],
                    "tls_errors": "record",
                }
                async with fetcher(**settings) as client:
                    answers = [await client.fetch(f"https://safe.example/{page}") for page in range(3)]
                assert len(site.requests) == 3
                return answers, site.connections

        answers, connections = run(main())
        assert [(response.body, response.failure) for response in answers] == [(b"<p>safe", None)] * 3
        assert all(f"invalid certificate: {problem}" in response.detail for response in answers)
        assert connections == 2


def test_an_invalid_certificate_of_one_host_does_not_disable_the_check_of_another(authority: Authority) -> None:
    async def main() -> list[Response]:
        async with (
            serving(PAGE, authority.server("bad.example", expired=True)) as bad,
            serving(PAGE, authority.server("safe.example")) as safe,
        ):
            rules = [f"bad.example:443:127.0.0.1:{bad.port}", f"safe.example:443:127.0.0.1:{safe.port}"]
            settings: dict[str, Any] = {"ca_file": str(authority.file), "connect_to": rules, "tls_errors": "record"}
            async with fetcher(concurrency=1, **settings) as client:
                hosts = ["bad.example", "safe.example", "bad.example"]
                return [await client.fetch(f"https://{host}/") for host in hosts]

    first, second, third = run(main())
    assert (second.failure, second.detail) == (None, "")
    assert first.detail == third.detail != ""


def test_a_server_without_a_certificate_is_refused_even_when_errors_are_recorded() -> None:
    async def main() -> Response:
        async with serving(PAGE) as site, fetcher(tls_errors="record") as client:
            return await client.fetch(f"https://127.0.0.1:{site.port}/")

    assert run(main()).failure is not None


def test_a_server_without_tls_is_a_tls_failure(authority: Authority) -> None:
    async def chatty(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main() -> Response:
        server = await asyncio.start_server(chatty, "127.0.0.1", 0)
        async with server, fetcher(ca_file=str(authority.file)) as client:
            return await client.fetch(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")

    assert run(main()).failure is Reason.TLS


def test_a_handshake_that_never_ends_is_a_timeout(authority: Authority) -> None:
    async def silent(_request: bytes) -> AsyncIterator[bytes]:
        yield b""

    async def main() -> Response:
        async with serving(silent) as site, fetcher(ca_file=str(authority.file), connect_timeout=0.3) as client:
            return await client.fetch(f"https://127.0.0.1:{site.port}/")

    response = run(main())
    assert (response.failure, response.status) == (Reason.TIMEOUT, 0)
    assert response.seconds < 10


def test_http_2_responses_are_read_like_those_of_http_1(authority: Authority) -> None:
    async def main() -> None:
        context = authority.server("two.example", protocols=("h2",))
        async with serving(PAGE, context, Http2Site) as site:
            rule = f"two.example:443:127.0.0.1:{site.port}"
            async with fetcher(ca_file=str(authority.file), connect_to=[rule]) as client:
                responses = [await client.fetch(f"https://two.example/{page}") for page in range(3)]
            assert [response.body for response in responses] == [b"<p>two"] * 3
            assert responses[0].head == b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-answer: 42\r\n"
            assert responses[0].status == 200
            assert (len(site.requests), site.connections) == (3, 1)

    run(main())


def test_a_list_of_authorities_that_cannot_be_read_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        certificate_authorities(str(tmp_path / "missing.pem"))
    (tmp_path / "empty.pem").write_text("not a certificate")
    with pytest.raises(ConfigError, match=r"empty\.pem"):
        certificate_authorities(str(tmp_path / "empty.pem"))


def test_without_a_setting_the_system_decides_and_then_mozilla(
    monkeypatch: pytest.MonkeyPatch, authority: Authority
) -> None:
    file, folder, missing = str(authority.file), str(authority.file.parent), "/nowhere"
    for system_file, system_folder, expected in (
        (file, folder, (file, "")),
        (missing, folder, ("", folder)),
        (missing, missing, (certifi.where(), "")),
    ):
        monkeypatch.setenv("SSL_CERT_FILE", system_file)
        monkeypatch.setenv("SSL_CERT_DIR", system_folder)
        assert certificate_authorities() == expected

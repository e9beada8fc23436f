"""Which address is connected to? Never a refused one."""

from __future__ import annotations

import pytest

from fetch.servers import run
from periplus.config import Fetching
from periplus.fetch.resolver import Resolver
from periplus.fetch.routes import Route, Routes
from periplus.model import Reason


def route(host: str, port: int = 80, *, answer: list[str] | None = None, **settings: object) -> Route:
    async def main() -> Route:
        resolver = Resolver(5.0, lambda _: answer or [])
        found = await Routes(Fetching.model_validate(settings), resolver, public_allowed=True).find(host, port)
        resolver.close()
        return found

    return run(main())


@pytest.mark.parametrize(
    ("host", "address"),
    [("93.184.215.14", "93.184.215.14"), ("93.184.215.14.", "93.184.215.14"), ("[2620:fe::fe]", "2620:fe::fe")],
)
def test_an_address_needs_no_lookup(host: str, address: str) -> None:
    assert route(host).addresses == (address,)


def test_refused_addresses_are_left_out_of_a_route() -> None:
    assert route("a.test", answer=["127.0.0.1", "93.184.215.14", "10.0.0.1"]).addresses == ("93.184.215.14",)
    refused = route("a.test", answer=["127.0.0.1", "10.0.0.1"])
    assert (refused.addresses, refused.failure) == ((), Reason.PRIVATE_ADDRESS)
    assert refused.detail == "127.0.0.1 is a private address; add --allow-private to crawl it"


def test_a_name_without_addresses_is_a_dns_failure() -> None:
    assert route("a.test").failure is Reason.DNS


def test_a_port_above_65535_is_refused() -> None:
    assert route("93.184.215.14", 65_536).failure is Reason.NOT_WEB


@pytest.mark.parametrize(
    ("rules", "host", "port", "expected"),
    [
        (["a.test:80:93.0.0.1:8080"], "a.test", 80, ("93.0.0.1", 8080)),
        (["a.test:80:93.0.0.1:8080"], "a.test", 443, ("a.test", 443)),
        (["a.test:80:93.0.0.1:8080"], "b.test", 80, ("b.test", 80)),
        (["A.Test::93.0.0.1:"], "a.test", 443, ("93.0.0.1", 443)),
        (["::93.0.0.1:8080"], "a.test", 443, ("93.0.0.1", 8080)),
        ([":443:93.0.0.1:8443", ":80:93.0.0.1:8080"], "a.test", 80, ("93.0.0.1", 8080)),
        (["a.test:80:93.0.0.1:1", "::93.0.0.1:2"], "a.test", 80, ("93.0.0.1", 1)),
        (["::93.0.0.1:2", "a.test:80:93.0.0.1:1"], "a.test", 80, ("93.0.0.1", 2)),
        (["a.test:80::8080"], "a.test", 80, ("a.test", 8080)),
        (["a.test:80:[2620:fe::fe]:8080"], "a.test", 80, ("[2620:fe::fe]", 8080)),
        (["[2620:fe::fe]:80:b.test:"], "[2620:fe::fe]", 80, ("b.test", 80)),
    ],
)
def test_connect_to_means_what_it_means_in_curl(
    rules: list[str], host: str, port: int, expected: tuple[str, int]
) -> None:
    found = route(host, port, connect_to=rules, answer=["93.184.215.14"])
    assert (found.host, found.port) == expected

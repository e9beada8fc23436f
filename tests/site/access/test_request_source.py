"""Where a request comes from is decided by its connection, its Host header and what the browser says."""

from __future__ import annotations

import pytest
from starlette.types import Scope

from periplus.site.access.request_source import HostNames, client_of, is_local, is_same_origin
from periplus.site.front import CLIENT


def scope(client: str = "127.0.0.1", server: str = "127.0.0.1", **headers: str) -> Scope:
    encoded = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http", "client": (client, 1), "server": (server, 80), "scheme": "http", "headers": encoded}


def test_the_outermost_layer_knows_the_client_best() -> None:
    assert client_of(scope("192.0.2.1")) == "192.0.2.1"
    assert client_of({**scope("192.0.2.1"), CLIENT: "192.0.2.2"}) == "192.0.2.2"
    assert client_of({**scope(), "client": None}) == ""


@pytest.mark.parametrize("client", ["192.0.2.1", "::", "", "unix"])
def test_a_client_on_another_machine_is_not_local(client: str) -> None:
    assert is_local(scope(host="localhost"))
    assert not is_local(scope(client, host="localhost"))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "192.0.2.1", "["])
def test_a_name_of_another_site_is_not_local(host: str) -> None:
    assert not is_local(scope(host=host))


def test_a_request_with_two_names_has_none() -> None:
    two = scope(host="localhost")
    two["headers"] = [*two["headers"], (b"host", b"localhost")]
    assert not is_local(two)
    assert not HostNames(["localhost"]).allow(two)
    assert not HostNames([]).allow(scope())


@pytest.mark.parametrize(
    ("host", "server", "is_allowed"),
    [
        ("192.0.2.1:8080", "192.0.2.1", True),
        ("[2001:DB8:0::1]", "2001:db8::1", True),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("0.0.0.0", "192.0.2.1", False),
        ("", "", False),
    ],
)
def test_the_address_of_the_connection_is_a_name(host: str, server: str, *, is_allowed: bool) -> None:
    assert HostNames([]).allow(scope(server=server, host=host)) == is_allowed


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ({"sec_fetch_site": "same-origin", "origin": "http://evil.example"}, True),
        ({"sec_fetch_site": "none"}, False),
        ({"origin": "http://a.example"}, True),
        ({"origin": "https://a.example"}, False),
        ({"origin": "https://a.example", "x_forwarded_proto": "https"}, True),
        ({"origin": "https://public.example"}, True),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({}, False),
    ],
)
def test_a_form_comes_from_a_page_of_this_site(headers: dict[str, str], *, is_own: bool) -> None:
    assert is_same_origin(scope(host="a.example", **headers), "https://public.example") == is_own
    if "public" not in headers.get("origin", ""):
        assert is_same_origin(scope(host="a.example", **headers)) == is_own

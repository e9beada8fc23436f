"""Only a trusted proxy may say who the client is."""

from __future__ import annotations

import pytest

from periplus.site.client_address import ClientAddresses

PROXY, CLIENT, FORGED = "10.0.0.1", "203.0.113.7", "198.51.100.99"


def client(
    peer: str,
    *,
    trusted: tuple[str, ...] = ("10.0.0.0/8", "fd00::/8"),
    plain: str | None = None,
    standard: str | None = None,
) -> str:
    headers = [(b"x-forwarded-for", plain.encode())] if plain is not None else []
    headers += [(b"forwarded", standard.encode())] if standard is not None else []
    return ClientAddresses(trusted).client({"client": (peer, 1234), "headers": headers})


def test_a_direct_client_cannot_claim_to_be_another() -> None:
    assert client(CLIENT, plain=FORGED) == CLIENT
    assert client(CLIENT, standard=f"for={FORGED}") == CLIENT


def test_without_trusted_proxies_no_header_counts() -> None:
    assert client(PROXY, trusted=(), plain=CLIENT) == PROXY
    assert client("127.0.0.1", trusted=(), standard=f"for={CLIENT}") == "127.0.0.1"


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        (CLIENT, CLIENT),
        (f"{FORGED}, {CLIENT}", CLIENT),
        (f"{FORGED},10.0.0.9,{CLIENT}", CLIENT),
        (f"{FORGED}, {CLIENT}, 10.0.0.2", CLIENT),
        (f"10.9.9.9, {CLIENT}, 10.0.0.2, 10.0.0.3", CLIENT),
        (f"{CLIENT}:4711", CLIENT),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        (f"::ffff:{CLIENT}", CLIENT),
        (f"{CLIENT}, ::ffff:10.0.0.2", CLIENT),
        (f"{CLIENT}, fd00::1", CLIENT),
        ("10.0.0.7, 10.0.0.8", "10.0.0.7"),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_client(plain: str, expected: str) -> None:
    assert client(PROXY, plain=plain) == expected


@pytest.mark.parametrize("plain", ["", "unknown", "_hidden", f"{CLIENT}, evil", "1.2.3.4.5", ",", "\r\n", "999.1.1.1"])
def test_an_entry_that_is_no_address_ends_the_chain(plain: str) -> None:
    assert client(PROXY, plain=plain) == PROXY
    assert client(PROXY, plain=f"{plain}, 10.0.0.5") == "10.0.0.5"


@pytest.mark.parametrize(
    ("standard", "expected"),
    [
        (f"for={CLIENT}", CLIENT),
        (f"for={FORGED}, for={CLIENT};proto=https;by=10.0.0.1", CLIENT),
        (f'proto=http; For="{CLIENT}:80"', CLIENT),
        ('for="[2001:db8::7]:4711"', "2001:db8::7"),
        ("for=unknown", PROXY),
        (f"for={CLIENT}, for=_secret", PROXY),
        ("proto=https", PROXY),
    ],
)
def test_the_standard_header_counts_too(standard: str, expected: str) -> None:
    assert client(PROXY, standard=standard) == expected


def test_a_header_that_the_proxy_did_not_write_is_noticed() -> None:
    assert client(PROXY, plain=CLIENT, standard=f"for={FORGED}") == PROXY
    assert client(PROXY, plain=CLIENT, standard=f"for={CLIENT}") == CLIENT


def test_repeated_headers_are_one_chain() -> None:
    headers = [(b"x-forwarded-for", FORGED.encode()), (b"x-forwarded-for", CLIENT.encode())]
    assert ClientAddresses([PROXY]).client({"client": (PROXY, 1), "headers": headers}) == CLIENT


def test_a_connection_without_an_address_is_one_client() -> None:
    assert ClientAddresses([PROXY]).client({"client": None, "headers": []}) == "0.0.0.0"

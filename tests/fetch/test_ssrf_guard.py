"""Every spelling of a private address is recognised."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.fetch.ssrf_guard import private_networks, refusal, refusal_text
from periplus.model import Reason
from periplus.url import Canonicalizer, host_of

ALL_PRIVATE = private_networks(allow_all=True, named=())


def split_words(text: str) -> list[str]:
    return text.split()


# Addresses that no crawled link may reach, with any settings.
NEVER_V4 = split_words("""
    0.0.0.0 0.0.0.1 0.255.255.255 100.100.100.200 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 192.0.0.1
    192.0.0.8 192.0.0.170 192.0.0.192 224.0.0.1 224.0.0.251 239.255.255.250 239.255.255.255 240.0.0.1 250.1.2.3
    255.255.255.254 255.255.255.255
""")
# Addresses that the user may allow.
PRIVATE_V4 = split_words("""
    10.0.0.0 10.0.0.1 10.255.255.255 100.64.0.0 100.100.0.1 100.127.255.255 127.0.0.0 127.0.0.1 127.0.1.1 127.1.2.3
    127.255.255.255 172.16.0.0 172.17.0.1 172.31.255.255 192.0.2.1 192.88.99.1 192.168.0.0 192.168.1.1 192.168.255.255
    198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.255
""")
PUBLIC_V4 = split_words("""
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    168.63.129.15 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0
    198.17.255.255 198.20.0.0 198.51.99.255 203.0.112.255 223.255.255.255
""")
NEVER_V6 = split_words("""
    :: 64:ff9b:1::1 64:ff9b:1:ffff::7f00:1 100::1 100:0:0:1::1 5f00::1 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fe80::1
    fe80::1%eth0 febf:ffff::1 fec0::1 feff::1 ff01::1 ff02::1 ff02::fb ff05::1:3 ff0e::1 ::2:0:0:1 1::1 200::1 400::1
    1000::1 4000::1 8000::1 e000::1 f000::1
""")
PRIVATE_V6 = split_words("""
    ::1 fc00::1 fd00::1 fd12:3456:789a::1 fdff:ffff::1 2001:db8::1 2001:db8:ffff::1 2001:2::1 2001:10::1 2001:20::1
    2001:1ff:ffff::1 3fff::1 3fff:fff::1
""")
PUBLIC_V6 = split_words("2606:2800:21f:cb07:6820:80da:af6b:8b2c 2001:4860:4860::8888 2620:fe::fe 2a00:1450::1 3ffe::1")


def wrapped(ip: str) -> list[str]:
    """An IPv4 address embedded in every kind of IPv6 address."""
    number, public = int(IPv4Address(ip)), int(IPv4Address("8.8.8.8"))
    numbers = (
        0xFFFF << 32 | number,  # mapped
        0xFFFF << 48 | number,  # translated
        0x64FF9B << 96 | number,  # NAT64
        0x2002 << 112 | number << 80,  # 6to4
        0x2002 << 112 | number << 80 | 1 << 64 | 1,
        0x20010000 << 96 | public << 64 | number ^ 0xFFFFFFFF,  # Teredo client
        0x20010000 << 96 | number << 64 | public ^ 0xFFFFFFFF,  # Teredo server
    )
    compatible = [number] if number > 1 else []  # :: and ::1 mean something else
    return [str(IPv6Address(wrapping)) for wrapping in (*numbers, *compatible)]


def spelled(ip: str) -> list[str]:
    """An IPv4 address as a link may write it."""
    a, b, c, d = (int(part) for part in ip.split("."))
    number = int(IPv4Address(ip))
    hosts = [
        ip, f"{ip}.", f"{number}", f"{number:#x}", f"{number:#o}".replace("0o", "0"), f"{a:#x}.{b:#x}.{c:#x}.{d:#x}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"{a}.{b}.{c << 8 | d}", f"{a}.{b << 16 | c << 8 | d}",
        f"{a:#010x}.{b}.{c:#x}.{d}",
        ip.replace(".", "。"), ip.translate({48 + digit: 0xFF10 + digit for digit in range(10)}),
        ip.translate({48 + digit: f"%3{digit}" for digit in range(10)}), f"user:password@{ip}",
    ]  # fmt: skip
    return hosts + [f"[{wrapping}]" for wrapping in wrapped(ip)]


def connected_address(host: str) -> str:
    """The IP address that libcurl gets for a link to this host."""
    url = Canonicalizer().canonical(f"http://{host}/")
    assert url is not None
    literal = host_of(url).strip("[]").rstrip(".")
    return str(ip_address(literal))


@pytest.mark.parametrize("ip", [*NEVER_V4, *PRIVATE_V4, *NEVER_V6, *PRIVATE_V6, "nonsense", "", "/run/socket", "1.2.3"])
def test_no_address_outside_the_public_web_is_allowed(ip: str) -> None:
    for public_allowed in (True, False):
        assert refusal(ip, private=(), public_allowed=public_allowed) is Reason.PRIVATE_ADDRESS


@pytest.mark.parametrize("ip", NEVER_V4 + PRIVATE_V4)
def test_no_spelling_of_a_private_address_is_allowed(ip: str) -> None:
    for host in spelled(ip):
        found = refusal(connected_address(host), private=(), public_allowed=True)
        assert found is Reason.PRIVATE_ADDRESS, host


def test_there_are_many_spellings() -> None:
    assert sum(len(spelled(ip)) for ip in NEVER_V4 + PRIVATE_V4) > 800


@pytest.mark.parametrize("ip", [*PRIVATE_V4, *PRIVATE_V6])
def test_a_private_address_is_allowed_when_the_user_permits_it(ip: str) -> None:
    for public_allowed in (True, False):
        assert refusal(ip, private=ALL_PRIVATE, public_allowed=public_allowed) is None


@pytest.mark.parametrize("ip", [*NEVER_V4, *NEVER_V6])
def test_metadata_services_and_link_local_addresses_are_never_allowed(ip: str) -> None:
    wrappings = wrapped(ip) if "." in ip else []
    for address in (ip, *wrappings):
        found = refusal(address, private=ALL_PRIVATE, public_allowed=True)
        assert found is Reason.PRIVATE_ADDRESS, address


@pytest.mark.parametrize("ip", PUBLIC_V4 + PUBLIC_V6)
def test_a_public_address_needs_a_contact(ip: str) -> None:
    for private in (ALL_PRIVATE, ()):
        assert refusal(ip, private=private, public_allowed=True) is None
        assert refusal(ip, private=private, public_allowed=False) is Reason.NO_CONTACT


@pytest.mark.parametrize("ip", PUBLIC_V4)
def test_a_public_address_behind_a_translation_is_still_public(ip: str) -> None:
    for address in wrapped(ip):
        assert refusal(address, private=(), public_allowed=True) is None
        assert refusal(address, private=(), public_allowed=False) is Reason.NO_CONTACT


@given(st.ip_addresses())
def test_everything_that_the_standard_library_calls_private_is_refused(address: IPv4Address | IPv6Address) -> None:
    found = refusal(str(address), private=(), public_allowed=True)
    unwrapped = isinstance(address, IPv6Address) and (address.sixtofour or address.teredo or address.ipv4_mapped)
    if not address.is_global and not unwrapped:
        assert found is Reason.PRIVATE_ADDRESS


@given(st.text(max_size=60))
def test_text_that_is_not_an_address_is_refused(text: str) -> None:
    try:
        ip_address(text)
    except ValueError:
        assert refusal(text, private=ALL_PRIVATE, public_allowed=True) is Reason.PRIVATE_ADDRESS


@pytest.mark.parametrize(
    ("ip", "text"),
    [
        ("10.1.2.3", "10.1.2.3 is a private address; add --allow-private to crawl it"),
        ("169.254.169.254", "169.254.169.254 is a reserved address, which is never crawled"),
    ],
)
def test_the_refusal_names_the_option_only_where_it_helps(ip: str, text: str) -> None:
    assert refusal_text(Reason.PRIVATE_ADDRESS, ip) == text


def test_one_private_address_may_be_allowed_and_no_other() -> None:
    only_here = private_networks(allow_all=False, named=["127.0.0.1/32"])
    assert refusal("127.0.0.1", private=only_here, public_allowed=False) is None
    for ip in ("127.0.0.2", "::1", "10.0.0.1", "169.254.169.254"):
        assert refusal(ip, private=only_here, public_allowed=False) is Reason.PRIVATE_ADDRESS
    assert refusal("93.184.216.34", private=only_here, public_allowed=False) is Reason.NO_CONTACT

"""Which limits has an IP address?"""

from __future__ import annotations

from typing import Any

import pytest

from periplus.config import AddressLimit, Politeness
from periplus.fetch.ip_limits import AddressRules


def limits(ip: str, *ranges: tuple[str, int, float], **settings: Any) -> tuple[int, float] | None:
    tables = [AddressLimit(range=network, connections=number, delay=delay) for network, number, delay in ranges]
    rule = AddressRules(Politeness(address_limits=tables, **settings)).of(ip)
    return (rule.connections, rule.delay) if rule else None


@pytest.mark.parametrize("ip", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"])
def test_a_public_address_has_the_default_limits_unless_the_settings_differ(ip: str) -> None:
    assert limits(ip) == (4, 0.25)
    assert limits(ip, address_connections=2, address_delay=1.5) == (2, 1.5)
    assert limits(ip, address_connections=0, address_delay=0) is None


@pytest.mark.parametrize("ip", ["127.0.0.1", "10.1.2.3", "192.168.1.1", "::1", "fd00::1", "::ffff:127.0.0.1"])
def test_a_private_address_has_only_the_limits_of_its_network(ip: str) -> None:
    assert limits(ip) is None
    assert limits(ip, ("0.0.0.0/0", 1, 9.0), ("::/0", 1, 9.0)) == (1, 9.0)


def test_the_smallest_network_counts_in_whatever_order_they_are_named() -> None:
    ranges = [("127.0.0.0/8", 8, 0.1), ("127.0.5.0/24", 2, 0.2), ("127.0.5.9", 1, 0.3), ("93.0.0.0/8", 0, 0.0)]
    for order in (ranges, ranges[::-1]):
        assert limits("127.0.5.9", *order) == (1, 0.3)
        assert limits("127.0.5.8", *order) == (2, 0.2)
        assert limits("127.0.6.9", *order) == (8, 0.1)
        assert limits("93.184.215.14", *order) is None
        assert limits("94.0.0.1", *order) == (4, 0.25)


def test_an_address_inside_a_translation_has_the_same_rule() -> None:
    rules = AddressRules(Politeness())
    assert rules.of("93.184.215.14") == rules.of("::ffff:93.184.215.14") == rules.of("64:ff9b::5db8:d70e")
    assert rules.of("93.184.215.14") != rules.of("93.184.215.15")


def test_half_of_the_connections_may_be_idle() -> None:
    rule = AddressRules(Politeness(address_connections=4)).of("93.184.215.14")
    single = AddressRules(Politeness(address_connections=1)).of("93.184.215.14")
    endless = AddressRules(Politeness(address_connections=0)).of("93.184.215.14")
    assert rule is not None
    assert single is not None
    assert endless is not None
    assert [rule.allows_idle(open_now) for open_now in (1, 2, 3, 4)] == [True, True, False, False]
    assert not single.allows_idle(1)
    assert endless.allows_idle(1000)

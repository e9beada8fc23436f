"""All workers together respect the limits of one IP address."""

from __future__ import annotations

import os
import signal
import time

import pytest

from periplus.config import Politeness
from periplus.fetch.ip_limits import ROWS, AddressRule, AddressTable

IP, OTHER = "93.184.215.14", "93.184.215.15"
TIMEOUT = 30.0


def table(workers: int = 1, connections: int = 2, delay: float = 0.0) -> tuple[AddressTable, AddressRule]:
    found = AddressTable(Politeness(address_connections=connections, address_delay=delay), workers)
    rule = found.rules.of(IP) or AddressRule(0, 0, 0.0)
    return found, rule


def request(addresses: AddressTable, rule: AddressRule, worker: int = 0, *, connected: bool = False) -> bool:
    """Whether a request may start now; if so, it is sent at once."""
    if addresses.claim(rule, worker, connected=connected, timeout=TIMEOUT):
        return False
    addresses.mark_sent(rule)
    return True


def test_there_are_never_more_connections_than_allowed() -> None:
    addresses, rule = table(workers=2)
    assert [request(addresses, rule, worker) for worker in (0, 1, 0)] == [True, True, False]
    addresses.connection_closed(rule, 1)
    assert addresses.connections(rule) == 1
    assert [request(addresses, rule, worker) for worker in (0, 1)] == [True, False]


def test_a_request_on_an_open_connection_opens_no_other() -> None:
    addresses, rule = table(connections=1)
    assert request(addresses, rule)
    assert request(addresses, rule, connected=True)
    assert not request(addresses, rule)
    assert addresses.connections(rule) == 1


def test_the_delay_counts_from_the_moment_a_request_is_sent() -> None:
    addresses, rule = table(connections=0, delay=0.2)
    assert addresses.claim(rule, 0, connected=False, timeout=TIMEOUT) == 0
    time.sleep(0.25)  # connecting takes longer than the delay
    assert addresses.claim(rule, 0, connected=False, timeout=TIMEOUT) == pytest.approx(0.2)
    addresses.mark_sent(rule)
    assert 0 < addresses.claim(rule, 0, connected=False, timeout=TIMEOUT) <= 0.2
    time.sleep(0.2)
    assert addresses.claim(rule, 0, connected=False, timeout=TIMEOUT) == 0


def test_a_claim_without_a_result_expires() -> None:
    addresses, rule = table()
    assert addresses.claim(rule, 0, connected=False, timeout=0.05) == 0
    assert not request(addresses, rule)
    time.sleep(0.06)
    assert request(addresses, rule)


def test_addresses_are_limited_independently() -> None:
    addresses, rule = table(connections=1, delay=9.0)
    other = addresses.rules.of(OTHER)
    assert other is not None
    assert rule.key % ROWS != other.key % ROWS
    assert [request(addresses, rule), request(addresses, other), request(addresses, rule)] == [True, True, False]


def test_two_addresses_in_one_row_are_treated_as_one() -> None:
    addresses, rule = table(connections=1)
    same_row = AddressRule(rule.key + ROWS, 1, 0.0)
    assert [request(addresses, rule), request(addresses, same_row)] == [True, False]


def test_the_connections_of_an_ended_worker_do_not_count() -> None:
    addresses, rule = table(workers=3)
    assert [request(addresses, rule, worker) for worker in (1, 2, 0)] == [True, True, False]
    addresses.forget_worker(1)
    assert addresses.connections(rule) == 1
    assert request(addresses, rule, 0)


def test_no_count_is_lost_between_processes() -> None:
    """Three processes open and close connections; a lost update would leave a count behind."""
    addresses, rule = table(workers=3, connections=2)
    children = []
    for worker in range(3):
        if (child := os.fork()) == 0:
            for _ in range(2000):
                if request(addresses, rule, worker):
                    if addresses.connections(rule) > 2:
                        os._exit(1)
                    addresses.connection_closed(rule, worker)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert addresses.connections(rule) == 0


def test_a_process_killed_while_it_holds_the_lock_releases_it() -> None:
    addresses, rule = table(workers=2, connections=0)
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        with addresses._lock:
            os.write(writer, b"!")
            time.sleep(60)
        os._exit(0)
    os.read(reader, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    began = time.monotonic()
    assert request(addresses, rule)
    assert time.monotonic() - began < 20
    os.close(reader)
    os.close(writer)

"""Is an address asked by all workers together no more than it should be?"""

from __future__ import annotations

import os
import signal
import time

import pytest

from periplus.config import Politeness
from periplus.fetch.ip_limits import ROWS, AddressRule, AddressTable

IP, OTHER = "93.184.215.14", "93.184.215.15"
PATIENCE = 30.0


def table(workers: int = 1, connections: int = 2, delay: float = 0.0) -> tuple[AddressTable, AddressRule]:
    found = AddressTable(Politeness(address_connections=connections, address_delay=delay), workers)
    rule = found.rules.of(IP) or AddressRule(0, 0, 0.0)
    return found, rule


def ask(addresses: AddressTable, rule: AddressRule, worker: int = 0, *, connected: bool = False) -> bool:
    """Whether a request may begin now; it is mark_sent at once."""
    if addresses.claim(rule, worker, connected=connected, timeout=PATIENCE):
        return False
    addresses.mark_sent(rule)
    return True


def test_there_are_never_more_connections_than_allowed() -> None:
    addresses, rule = table(workers=2)
    assert [ask(addresses, rule, worker) for worker in (0, 1, 0)] == [True, True, False]
    addresses.connection_closed(rule, 1)
    assert addresses.connections(rule) == 1
    assert [ask(addresses, rule, worker) for worker in (0, 1)] == [True, False]


def test_a_request_on_an_open_connection_needs_no_other() -> None:
    addresses, rule = table(connections=1)
    assert ask(addresses, rule)
    assert ask(addresses, rule, connected=True)
    assert not ask(addresses, rule)
    assert addresses.connections(rule) == 1


def test_the_delay_counts_from_the_moment_a_request_is_sent() -> None:
    addresses, rule = table(connections=0, delay=0.2)
    assert addresses.claim(rule, 0, connected=False, timeout=PATIENCE) == 0
    time.sleep(0.25)  # it takes longer than the delay to make the connection
    assert addresses.claim(rule, 0, connected=False, timeout=PATIENCE) == pytest.approx(
        0.2
    )  # no sooner, whatever happens
    addresses.mark_sent(rule)
    assert 0 < addresses.claim(rule, 0, connected=False, timeout=PATIENCE) <= 0.2
    time.sleep(0.2)
    assert addresses.claim(rule, 0, connected=False, timeout=PATIENCE) == 0


def test_a_request_that_nobody_speaks_of_any_more_blocks_nobody_for_ever() -> None:
    addresses, rule = table()
    assert addresses.claim(rule, 0, connected=False, timeout=0.05) == 0
    assert not ask(addresses, rule)
    time.sleep(0.06)
    assert ask(addresses, rule)


def test_addresses_do_not_disturb_each_other() -> None:
    addresses, rule = table(connections=1, delay=9.0)
    other = addresses.rules.of(OTHER)
    assert other is not None
    assert rule.key % ROWS != other.key % ROWS
    assert [ask(addresses, rule), ask(addresses, other), ask(addresses, rule)] == [True, True, False]


def test_two_addresses_in_one_row_are_treated_as_one() -> None:
    addresses, rule = table(connections=1)
    namesake = AddressRule(rule.key + ROWS, 1, 0.0)
    assert [ask(addresses, rule), ask(addresses, namesake)] == [True, False]


def test_the_connections_of_a_worker_that_is_gone_do_not_count() -> None:
    addresses, rule = table(workers=3)
    assert [ask(addresses, rule, worker) for worker in (1, 2, 0)] == [True, True, False]
    addresses.forget_worker(1)
    assert addresses.connections(rule) == 1
    assert ask(addresses, rule, 0)


def test_no_count_is_lost_between_processes() -> None:
    """Three processes take and give back what they can; a lost update would leave a count behind."""
    addresses, rule = table(workers=3, connections=2)
    children = []
    for worker in range(3):
        if (child := os.fork()) == 0:
            for _ in range(2000):
                if ask(addresses, rule, worker):
                    if addresses.connections(rule) > 2:
                        os._exit(1)
                    addresses.connection_closed(rule, worker)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert addresses.connections(rule) == 0


def test_a_process_killed_while_it_holds_the_table_holds_up_nobody() -> None:
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
    assert ask(addresses, rule)
    assert time.monotonic() - began < 20
    os.close(reader)
    os.close(writer)

"""The user changes the queue of a host while it is crawled: URLs are dropped, or tried again."""

from __future__ import annotations

from collections.abc import Iterable

from frontier.test_queues import Disk, of_host, queued
from periplus.frontier.queues import Queues
from periplus.model import QueuedUrl

HOST = "a.example"


def filled(items: Iterable[QueuedUrl]) -> Queues:
    queues = Queues(Disk(), 1000)
    for item in items:
        queues.add(item)
    return queues


def test_dropped_urls_are_never_taken_and_no_longer_counted() -> None:
    queues = filled([*(of_host(HOST, number) for number in range(5)), of_host("b.example", 0)])
    queues.discard(HOST)
    assert queues.buffered == 1
    assert [queues.take(1.0), queues.take(1.0)] == [of_host("b.example", 0), None]


def test_only_the_named_url_is_dropped() -> None:
    items = [of_host(HOST, number) for number in range(3)]
    queues = filled(items)
    queues.discard(HOST, {items[1].url}.__contains__)
    taken = []
    while (item := queues.take(1.0)) is not None:
        taken.append(item)
        queues.release(HOST, 0.0)
    assert taken == [items[0], items[2]]


def test_urls_that_wait_for_another_attempt_are_dropped_too() -> None:
    queues = filled([queued(f"https://{HOST}/late", due=50.0)])
    queues.discard(HOST)
    assert (queues.buffered, queues.has_work()) == (0, False)


def test_a_url_that_is_being_fetched_stays_until_it_is_acknowledged() -> None:
    items = [of_host(HOST, number) for number in range(2)]
    queues = filled(items)
    taken = queues.take(1.0)
    queues.discard(HOST)
    queues.release(HOST, 2.0)
    queues.acknowledged([items[0]], [])
    assert taken == items[0]
    assert queues.take(9.0) is None


def test_an_unknown_host_has_nothing_to_drop() -> None:
    filled([]).discard("unknown.example")


def test_a_parked_host_that_is_retried_is_taken_at_once_with_all_its_urls() -> None:
    late = queued(f"https://{HOST}/late", due=500.0)._replace(attempts=2)
    queues = filled([of_host(HOST, 1), late])
    queues.take(1.0)
    queues.put_back(of_host(HOST, 1))
    queues.release(HOST, 600.0, parked="timeout")
    assert not queues.has_work()
    queues.retry(HOST, 3.0)
    assert queues.has_work()
    assert queues.take(2.9) is None
    assert queues.take(3.0) is not None
    queues.release(HOST, 4.0)
    second = queues.take(4.0)
    assert second is not None
    assert (second.attempts, second.due) == (0, 0.0)


def test_a_busy_host_that_is_retried_stays_busy() -> None:
    queues = filled([of_host(HOST, number) for number in range(2)])
    queues.take(1.0)
    queues.retry(HOST, 0.0)
    assert queues.take(9.0) is None
    assert queues.is_busy([HOST])


def test_the_urls_that_wait_for_a_delay_are_listed() -> None:
    queues = filled([of_host(HOST, 1), of_host(HOST, 2), of_host("b.example", 1)])
    first = queues.take(1.0)
    assert first is not None
    queues.release(first.host, 10.0)
    assert [item.host for item in queues.waiting_urls(5.0, 8)] == [first.host]
    assert queues.waiting_urls(10.0, 8) == []

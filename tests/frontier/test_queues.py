"""Each host has one request at a time, never too early, and every URL is taken once and in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from periplus.frontier import queues
from periplus.frontier.priority import deferred
from periplus.frontier.queues import Queues
from periplus.model import HostPolicy, QueuedUrl, Reason
from periplus.url import host_of

HOSTS = ["a.example", "b.example", "c.example"]


def queued(url: str, priority: float = 0.0, due: float = 0.0) -> QueuedUrl:
    return QueuedUrl(url, host_of(url), 0, priority, Reason.LINK, due=due)


def of_host(host: str, number: int, priority: float = 0.0) -> QueuedUrl:
    return queued(f"https://{host}/{number:04}", priority)


class Disk:
    """The frontier on disk as a dictionary of acknowledged URLs."""

    def __init__(self, items: Iterable[QueuedUrl] = ()) -> None:
        self.rows = {item.url: item for item in items}
        self.reads = 0

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        self.reads += 1
        mine = [item for item in self.rows.values() if item.host == host and item.due <= now]
        return sorted(mine, key=lambda item: (item.priority, item.due, item.url))[:limit]

    def next_due(self, host: str, now: float) -> float | None:
        dues = (item.due for item in self.rows.values() if item.host == host)
        return min((due for due in dues if now < due < math.inf), default=None)

    def waiting_hosts(self) -> list[HostPolicy]:
        return [HostPolicy(host, None) for host in sorted({item.host for item in self.rows.values()})]


def loaded(items: Iterable[QueuedUrl], capacity: int = 1000) -> tuple[Queues, Disk]:
    """Queues of a run that continues."""
    disk = Disk(items)
    found = Queues(disk, capacity)
    found.load(disk.waiting_hosts())
    return found, disk


def with_items(*items: QueuedUrl, capacity: int = 1000) -> Queues:
    """Queues with these newly admitted URLs."""
    found = Queues(Disk(), capacity)
    for item in items:
        found.add(item)
    return found


def take_all(found: Queues, now: float = 0.0) -> list[QueuedUrl]:
    """Take every URL that is ready, and release each host at once."""
    items = []
    while (item := found.take(now)) is not None:
        items.append(item)
        found.release(item.host, now)
    return items


# --- one host ---


def test_an_admitted_url_is_taken_once() -> None:
    item = queued("https://a.example/")
    found = with_items(item)
    assert (found.has_work(), found.next_ready(), found.buffered) == (True, 0.0, 1)
    assert found.take(0.0) == item
    assert found.take(9.0) is None
    found.release("a.example", 1.0)
    assert found.take(9.0) is None
    assert (found.has_work(), found.next_ready(), found.buffered) == (False, None, 0)


def test_a_host_has_one_request_at_a_time() -> None:
    found = with_items(of_host("a.example", 1), of_host("a.example", 2))
    first = found.take(0.0)
    assert first is not None
    assert found.take(100.0) is None
    found.release("a.example", 0.0)
    assert found.take(100.0) not in (None, first)


def test_deferred_urls_come_after_all_others_in_memory_and_on_disk() -> None:
    items = [of_host("a.example", number, number) for number in range(300)]
    found, disk = loaded(items)
    first = found.take(0.0)
    assert first is not None
    last = first._replace(priority=deferred(first.priority))
    disk.rows[first.url] = last
    found.put_back(last)
    found.release("a.example", 0.0)
    late = of_host("a.example", 999, 5.0)
    order = []
    while (item := found.take(0.0)) is not None:
        order.append(item.url)
        if len(order) == 150:  # found while deferred URLs wait
            found.add(late)
            disk.rows[late.url] = late
            found.acknowledged([], [late])
        found.release("a.example", 0.0)
    assert (len(order), len(set(order)), order[-1]) == (301, 301, first.url)


def test_reading_only_deferred_urls_from_disk_does_not_read_them_again_for_each() -> None:
    items = [of_host("a.example", number, deferred(number)) for number in range(500)]
    found, disk = loaded(items)
    assert len(take_all(found)) == 500
    assert disk.reads < 10


def test_a_host_is_not_taken_before_its_delay_has_passed() -> None:
    found = with_items(of_host("a.example", 1), of_host("a.example", 2))
    found.take(0.0)
    found.release("a.example", 5.0)
    assert found.take(4.999) is None
    assert found.next_ready() == 5.0
    assert found.take(5.0) is not None


def test_the_delay_of_an_earlier_run_is_kept() -> None:
    found = Queues(Disk([of_host("a.example", 1)]), 1000)
    found.load([HostPolicy("a.example", 1.0, next_fetch=7.0)])
    assert found.next_ready() == 7.0
    assert found.take(6.9) is None
    assert found.take(7.0) is not None


def test_a_host_with_a_longer_delay_is_not_taken_at_its_old_time() -> None:
    found, _ = loaded([of_host("a.example", 1)])
    found.release("a.example", 50.0, parked="dns")
    assert not found.has_work()
    assert found.take(49.0) is None
    assert found.take(50.0) is not None


def test_a_new_url_does_not_shorten_the_delay_of_a_host() -> None:
    found = with_items(of_host("a.example", 1))
    found.take(0.0)
    found.release("a.example", 5.0)
    found.add(of_host("a.example", 2))
    assert found.take(4.0) is None
    assert found.take(5.0) == of_host("a.example", 2)


def test_the_best_priority_comes_first_and_equal_ones_in_turn() -> None:
    items = [of_host("a.example", number, priority) for number, priority in enumerate([2.0, 0.0, 1.0, 0.0, 2.0])]
    found = with_items(*items)
    assert [item.url[-1] for item in take_all(found)] == list("13204")


def test_the_best_priority_comes_first_from_disk() -> None:
    items = [of_host("a.example", number, float(-number)) for number in range(600)]
    found, _ = loaded(items)
    assert take_all(found) == sorted(items, key=lambda item: item.priority)


def test_a_url_put_back_is_taken_again() -> None:
    item = of_host("a.example", 1)
    found = with_items(item)
    assert found.take(0.0) == item
    found.put_back(item)
    found.release("a.example", 2.0)
    assert found.take(1.0) is None
    assert take_all(found, 2.0) == [item]


# --- delayed URLs ---


def test_a_url_to_retry_waits_until_it_is_due() -> None:
    item = of_host("a.example", 1)
    found = with_items(item)
    found.take(0.0)
    found.put_back(item._replace(due=30.0))
    found.release("a.example", 1.0)
    assert found.next_ready() == 30.0
    assert found.has_work()
    assert found.take(29.9) is None
    assert found.take(30.0) == item._replace(due=30.0)


def test_a_delayed_url_does_not_block_the_others_of_its_host() -> None:
    late, other = of_host("a.example", 1), of_host("a.example", 2, 5.0)
    found = with_items(late, other)
    assert found.take(0.0) == late
    found.put_back(late._replace(due=30.0))
    found.release("a.example", 1.0)
    assert found.take(1.0) == other
    found.release("a.example", 2.0)
    assert found.take(2.0) is None
    assert found.take(30.0) == late._replace(due=30.0)


def test_a_url_that_is_due_does_not_shorten_the_delay_of_its_host() -> None:
    item = of_host("a.example", 1)
    found = with_items(item)
    found.take(0.0)
    found.put_back(item._replace(due=5.0))
    found.release("a.example", 20.0)
    assert found.take(10.0) is None
    assert found.take(20.0) == item._replace(due=5.0)


def test_the_moment_a_delayed_url_was_due_is_forgotten_when_others_come_before() -> None:
    late, first, second = (of_host("a.example", number) for number in range(3))
    found = with_items(late)
    found.take(0.0)
    found.put_back(late._replace(due=5.0))
    found.release("a.example", 1.0)
    found.add(first)
    found.add(second)
    assert found.take(1.0) == first
    assert found.take(6.0) is None  # it is due, but its host is busy
    found.release("a.example", 9.0)
    assert found.take(8.0) is None
    assert take_all(found, 9.0) == [second, late._replace(due=5.0)]


def test_delayed_urls_on_disk_do_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "_MAX_PER_HOST", 4)
    delayed = [queued(f"https://a.example/late{number}", due=30.0) for number in range(20)]
    ready = [of_host("a.example", number, 5.0) for number in range(20)]
    found, _ = loaded([*delayed, *ready], capacity=8)
    assert take_all(found, 1.0) == ready
    assert found.next_ready() == 30.0
    assert sorted(take_all(found, 30.0)) == sorted(delayed)


def test_a_url_that_is_due_again_keeps_its_priority() -> None:
    due, better = queued("https://a.example/due", 3.0, due=5.0), of_host("a.example", 1, 1.0)
    worse = of_host("a.example", 2, 9.0)
    found, _ = loaded([worse, due, better])
    assert take_all(found, 10.0) == [better, due, worse]


def test_a_url_due_in_another_run_does_not_keep_this_run_going() -> None:
    found, _ = loaded([queued("https://a.example/", due=math.inf)])
    assert found.take(1e12) is None
    assert (found.has_work(), found.next_ready(), len(found)) == (False, None, 1)
    assert found.take(1e12) is None
    assert len(found) == 0
    disk = Disk()
    found = Queues(disk, 10)
    waits = queued("https://a.example/", due=math.inf)
    disk.rows[waits.url] = waits
    found.acknowledged([], [waits])
    assert (found.has_work(), disk.reads) == (False, 0)


# --- links to queued URLs ---


def test_a_url_with_more_links_is_taken_sooner() -> None:
    first, second, third = (of_host("a.example", number, 1.0) for number in range(3))
    found = with_items(first, second, third)
    found.count_links([third.url, "https://a.example/unknown"])
    for _ in range(3):
        found.count_links([second.url])
    taken_items = take_all(found)
    assert [item.url for item in taken_items] == [second.url, third.url, first.url]
    assert [round(item.priority, 3) for item in taken_items] == [0.8, 0.9, 1.0]  # doubled twice, once, never
    assert (found.buffered, found.has_work()) == (0, False)


def test_outdated_heap_entries_do_not_accumulate() -> None:
    items = [of_host("a.example", number, 1.0) for number in range(100)]
    found = with_items(*items)
    for number, item in enumerate(items):
        for _ in range(1 << number % 8):
            found.count_links([item.url])
    assert len(found._hosts["a.example"].heap) <= 2 * len(items)
    taken_items = take_all(found)
    assert [item.priority for item in taken_items] == sorted(item.priority for item in taken_items)
    assert {item.url for item in taken_items} == {item.url for item in items}


def test_links_never_move_a_url_to_a_smaller_depth() -> None:
    popular, near = of_host("a.example", 1)._replace(depth=2, priority=2.0), of_host("a.example", 2, 1.0)
    found = with_items(popular, near)
    for _ in range(5000):
        found.count_links([popular.url])
    taken_items = take_all(found)
    assert [item.url for item in taken_items] == [near.url, popular.url]
    assert taken_items[1].priority == pytest.approx(1.1)


def test_links_to_urls_that_are_taken_or_on_disk_or_not_due_change_nothing() -> None:
    taken, late, on_disk = (of_host("a.example", number) for number in range(3))
    found, _ = loaded([on_disk])
    found.count_links([on_disk.url] * 4)
    other = with_items(taken, late)
    assert other.take(0.0) == taken
    other.put_back(taken._replace(due=5.0))
    other.count_links([taken.url] * 4)
    other.release("a.example", 0.0)
    assert take_all(other, 9.0) == [late, taken._replace(due=5.0)]
    assert take_all(found) == [on_disk]


# --- many hosts ---


def test_the_host_that_has_been_ready_longest_comes_first() -> None:
    found = with_items(*(of_host(host, number) for host in HOSTS for number in range(2)))
    for ready, host in zip((3.0, 1.0, 2.0), HOSTS, strict=True):
        item = found.take(0.0)
        assert item is not None
        assert item.host == host
        found.release(host, ready)
    assert [item.host for _ in HOSTS if (item := found.take(9.0))] == ["b.example", "c.example", "a.example"]


def test_a_slow_host_never_delays_another() -> None:
    found = with_items(*(of_host("a.example", number) for number in range(50)), of_host("b.example", 1))
    slow = found.take(0.0)
    assert slow is not None
    assert [item.host for item in take_all(found)] == ["b.example"]
    found.put_back(slow)
    found.release("a.example", 1000.0)
    found.add(of_host("b.example", 2))
    assert [item.host for item in take_all(found, 500.0)] == ["b.example"]


def test_parked_hosts_do_not_keep_the_crawl_going_but_may_still_be_taken() -> None:
    found = with_items(of_host("a.example", 1), of_host("a.example", 2), of_host("b.example", 1))
    assert found.take(0.0) == of_host("a.example", 1)
    found.release("a.example", 100.0, parked="dns")
    assert found.has_work()
    assert found.take(0.0) == of_host("b.example", 1)
    found.release("b.example", 1.0)
    assert not found.has_work()
    assert found.take(100.0) == of_host("a.example", 2)
    found.put_back(of_host("a.example", 2))
    found.release("a.example", 101.0)
    assert found.has_work()


def test_parked_hosts_are_counted_by_reason_as_long_as_they_have_work_and_stay_parked() -> None:
    found = with_items(*(of_host(f"{name}.example", number) for name in "abcd" for number in (1, 2)))
    taken = [found.take(0.0) for _ in "abcd"]
    for item, reason in zip(taken, ["dns", "dns", "http_503", "dns"], strict=True):
        assert item is not None
        found.release(item.host, 100.0, parked=reason)
    assert found.parked() == {"dns": 3, "http_503": 1}
    found.release("a.example", 0.0)
    found.drop(["b.example"])
    assert found.parked() == {"http_503": 1, "dns": 1}


# --- requests that are not for queued URLs ---


def test_an_idle_host_can_be_taken_by_name_and_is_busy_until_released() -> None:
    found = with_items(of_host("a.example", 1))
    assert found.take_host("a.example", 1.0) is None
    assert found.take(1.0) is None
    found.release("a.example", 5.0)
    assert [found.take(4.0), found.take(5.0)] == [None, of_host("a.example", 1)]


def test_a_busy_or_delayed_host_cannot_be_taken_by_name() -> None:
    found = with_items(of_host("a.example", 1), of_host("a.example", 2))
    found.take(1.0)
    assert (found.take_host("a.example", 1.0) or (0.0, ""))[0] > 1.0
    found.release("a.example", 7.0)
    assert found.take_host("a.example", 2.0) == (7.0, "")
    found.release("a.example", 90.0, parked="dns")
    assert found.take_host("a.example", 8.0) == (90.0, "dns")


def test_a_waiting_request_comes_before_the_long_queue_of_its_host() -> None:
    found = with_items(*(of_host("a.example", number) for number in range(5)))
    found.take(1.0)
    found.release("a.example", 3.0)
    assert found.take_host("a.example", 2.0) == (3.0, "")
    assert found.take(3.0) is None
    assert found.take_host("a.example", 3.0) is None
    found.release("a.example", 5.0)
    assert found.take(5.0) == of_host("a.example", 1)


def test_a_waiting_request_that_never_comes_blocks_no_url() -> None:
    found = with_items(of_host("a.example", 1))
    found.take(0.0)
    found.put_back(of_host("a.example", 1))
    found.release("a.example", 3.0)
    found.take_host("a.example", 2.0)
    assert found.take(3.0) is None
    assert found.next_ready() is not None
    assert found.take(4.0) == of_host("a.example", 1)


def test_a_host_whose_url_is_postponed_can_be_taken_by_name() -> None:
    found = with_items(of_host("a.example", 1), of_host("a.example", 2))
    item = found.take(1.0)
    assert item is not None
    found.postpone(item, 5.0)
    assert (found.take(4.0), found.next_ready()) == (None, 5.0)
    assert found.take_host("a.example", 2.0) is None
    found.release("a.example", 3.0)
    assert [found.take(4.0), found.take(5.0)] == [None, of_host("a.example", 2)]


def test_an_unknown_host_can_be_taken_by_name() -> None:
    found = with_items()
    assert found.take_host("a.example", 1.0) is None
    found.release("a.example", 3.0)
    assert found.take_host("a.example", 2.0) == (3.0, "")
    assert (found.has_work(), found.next_ready()) == (False, None)


# --- memory and disk ---


def test_a_url_without_room_in_memory_is_read_from_disk_once_acknowledged() -> None:
    items = [of_host("a.example", number) for number in range(10)]
    disk = Disk()
    found = Queues(disk, 4)
    for item in items:
        found.add(item)
    assert found.buffered == 4
    first = take_all(found)
    assert first == items[:4]
    disk.rows = {item.url: item for item in items}
    found.acknowledged([], items)
    assert found.has_work()
    assert take_all(found) == items[4:]


def test_queued_urls_are_counted_in_memory_and_on_disk() -> None:
    disk = Disk()
    found = Queues(disk, capacity=10)
    items = [of_host("a.example", number) for number in range(15)]
    for item in items:
        found.add(item)
    assert (found.buffered, found.backlog, dict(found.waiting())) == (10, 15, {"a.example": 15})
    disk.rows = {item.url: item for item in items}
    found.acknowledged([], items)
    assert found.backlog == 15
    for _ in range(11):  # the last one has to be read from disk
        assert found.take(0.0) is not None
        found.release("a.example", 0.0)
    assert (found.backlog, dict(found.waiting())) == (4, {"a.example": 4})
    found.drop(["a.example"])
    assert (found.backlog, found.buffered) == (0, 0)


def test_a_queue_on_disk_counts_as_long_until_it_was_read() -> None:
    found, _ = loaded([of_host("a.example", number) for number in range(3)])
    assert found.backlog > 100
    assert found.take(0.0) is not None
    assert found.backlog == 2


def test_a_new_url_does_not_overtake_better_ones_on_disk() -> None:
    waiting = [of_host("a.example", number) for number in range(3)]
    found, disk = loaded(waiting)
    new = of_host("a.example", 9, 5.0)
    found.add(new)
    assert found.take(0.0) == waiting[0]
    found.release("a.example", 0.0)
    disk.rows[new.url] = new
    found.acknowledged([], [new])
    assert take_all(found) == [*waiting[1:], new]


def test_nothing_on_disk_is_overlooked_when_memory_is_full_of_other_hosts() -> None:
    early = [of_host("a.example", number) for number in range(13)]  # the last three find no room
    disk = Disk()
    found = Queues(disk, 10)
    for item in early:
        found.add(item)
    assert take_all(found) == early[:10]
    disk.rows = {item.url: item for item in early}
    fresh = [of_host("a.example", number) for number in (20, 21)]
    for item in fresh:
        found.add(item)  # after the cut, before its acknowledgement
    found.acknowledged([], early)
    assert [found.take(0.0)] == fresh[:1]
    found.release("a.example", 5.0)
    for number in range(10):
        found.add(of_host("b.example", number))
    assert found.take(0.0) == of_host("b.example", 0)
    assert take_all(found, 5.0) == [fresh[1], *early[10:]]


def test_a_settled_url_can_be_queued_again() -> None:
    item = of_host("a.example", 1)
    found, disk = loaded([item])
    assert take_all(found) == [item]
    del disk.rows[item.url]
    found.acknowledged([item], [])
    disk.rows[item.url] = item
    found.load(disk.waiting_hosts())
    assert take_all(found) == [item]


def test_a_held_url_is_not_read_again_from_disk() -> None:
    items = [of_host("a.example", number) for number in range(5)]
    found, disk = loaded(items)
    assert take_all(found) == items
    disk.rows[items[0].url] = items[0]
    found.acknowledged([], [of_host("a.example", 0)])
    assert take_all(found) == []


def test_a_url_that_one_commit_admits_and_settles_needs_no_disk_read() -> None:
    item = of_host("a.example", 1)
    disk = Disk()
    found = Queues(disk, 10)
    found.add(item)
    assert found.take(0.0) == item
    found.release("a.example", 0.0)
    found.acknowledged([item], [item])
    assert not found.has_work()
    assert (found.take(9.0), disk.reads) == (None, 0)


def test_a_host_without_work_is_forgotten_after_its_delay() -> None:
    forgotten: list[str] = []
    item = of_host("a.example", 1)
    found = Queues(Disk(), 10, forgotten.append)
    found.add(item)
    assert found.take(0.0) == item
    found.release("a.example", 5.0)
    assert found.take(9.0) is None
    assert len(found) == 1, "what became of its last URL is not on disk yet"
    found.acknowledged([item], [item])
    assert found.take(4.0) is None
    assert (len(found), forgotten) == (1, []), "it still rests"
    assert found.take(5.0) is None
    assert (len(found), forgotten) == (0, ["a.example"])


def test_a_host_that_gets_work_during_its_delay_is_not_forgotten() -> None:
    first, second = of_host("a.example", 1), of_host("a.example", 2)
    forgotten: list[str] = []
    found = Queues(Disk(), 10, forgotten.append)
    found.add(first)
    assert found.take(0.0) == first
    found.release("a.example", 5.0)
    found.acknowledged([first], [first])
    found.add(second)
    assert found.take(4.0) is None
    assert found.take(5.0) == second
    assert forgotten == []


def test_a_host_with_a_longer_delay_is_kept_until_its_end() -> None:
    first, second = of_host("a.example", 1), of_host("a.example", 2)
    found = Queues(Disk(), 10)
    found.add(first)
    found.take(0.0)
    found.release("a.example", 5.0)
    found.acknowledged([first], [first])
    found.release("a.example", 50.0)
    assert found.take(6.0) is None
    assert len(found) == 1
    found.add(second)
    found.release("a.example", 7.0)
    assert found.take(7.0) == second
    found.release("a.example", 8.0)
    assert found.take(60.0) is None
    assert len(found) == 1, "what became of the second is not on disk yet"


def test_memory_holds_hosts_with_work_not_all_hosts_ever_seen() -> None:
    found = Queues(Disk(), 1000)
    most = 0
    for number in range(3000):
        item = of_host(f"h{number}.example", 1)
        found.add(item)
        assert found.take(float(number)) == item
        found.release(item.host, number + 10.0)
        found.acknowledged([item], [item])
        most = max(most, len(found))
    assert most <= 12
    assert len(found._order) + len(found._idle_hosts) <= 24


@pytest.mark.parametrize("capacity", [1, 64, 1000])
def test_memory_is_bounded_however_many_hosts_have_long_queues(capacity: int) -> None:
    hosts = [f"host{number}.example" for number in range(40)]
    items = [of_host(host, number) for host in hosts for number in range(50)]
    found, disk = loaded(items, capacity)
    taken = []
    for now in range(50):
        for _ in hosts:
            item = found.take(float(now))
            assert item is not None
            taken.append(item)
            assert found.buffered <= capacity
        for item in taken[-len(hosts) :]:
            del disk.rows[item.url]
            found.release(item.host, now + 1.0)
        found.acknowledged(taken[-len(hosts) :], [])
    assert sorted(taken) == sorted(items)


# --- comparison with a model ---


class QueuesModel(RuleBasedStateMachine):
    """Compares the queues with dictionaries.

    `waiting` holds the URLs that were admitted and neither taken nor settled, in their newest version. `taken` holds
    the URLs being fetched. A commit is written first (`disk`) and acknowledged later, as in the crawl.
    """

    @initialize(capacity=st.sampled_from([1, 3, 8, 1000]), per_host=st.sampled_from([1, 3, 128]))
    def begin(self, capacity: int, per_host: int) -> None:
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(queues, "_MAX_PER_HOST", per_host)
        self.capacity, self.always_in_memory = capacity, capacity == 1000 and per_host == 128
        self.now = 1000.0
        self.disk = Disk()
        self.queues = Queues(self.disk, capacity)
        self.waiting: dict[str, QueuedUrl] = {}
        self.links = Counter[str]()
        self.taken: dict[str, QueuedUrl] = {}  # by host
        self.ready = dict.fromkeys(HOSTS, 0.0)
        self.parked: set[str] = set()
        self.numbers = iter(range(10**9))
        self.admitted: list[QueuedUrl] = []
        self.left: list[QueuedUrl] = []
        self.changed: list[QueuedUrl] = []
        self.written: list[tuple[list[QueuedUrl], list[QueuedUrl]]] = []
        self.put_back = 0

    def teardown(self) -> None:
        if hasattr(self, "patch"):
            self.drain()
            self.patch.undo()

    # rules

    @rule(host=st.sampled_from(HOSTS), priorities=st.lists(st.integers(0, 3), min_size=1, max_size=8))
    def admit(self, host: str, priorities: list[int]) -> None:
        for priority in priorities:
            item = of_host(host, next(self.numbers), float(priority))._replace(depth=priority)
            self.waiting[item.url] = item
            self.links[item.url] = 1
            self.admitted.append(item)
            self.queues.add(item)

    @rule(data=st.data(), times=st.integers(1, 9))
    def count_links(self, data: st.DataObject, times: int) -> None:
        """Links to any URL that was ever admitted, and to others."""
        numbers = data.draw(st.lists(st.integers(0, 40), max_size=4))
        urls = [f"https://{host}/{number:04}" for host, number in zip(HOSTS * 2, numbers, strict=False)]
        for _ in range(times):
            self.queues.count_links(urls)
            for url in urls:
                self.expect_sooner(url)

    def expect_sooner(self, url: str) -> None:
        """Each time the links to a URL in memory have doubled, its priority improves by 0.1."""
        item = self.waiting.get(url)
        if self.always_in_memory and item is not None and not item.due:
            self.links[url] += 1
            if self.links[url] in (2, 4, 8, 16, 32, 64):
                self.waiting[url] = item._replace(priority=max(item.priority - 0.1, item.depth - 0.9))

    @rule(seconds=st.sampled_from([0.1, 1.0, 10.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def take(self) -> None:
        expected = [item for item in self.acknowledged_as_waiting() if self.may_be_taken(item)]
        item = self.queues.take(self.now)
        if item is None:
            assert not expected, "a host is ready and has something to give"
            return
        assert self.may_be_taken(item)
        known = self.waiting.pop(item.url)
        del self.links[item.url]
        assert item._replace(priority=known.priority) == known
        assert known.depth - 0.9 <= item.priority <= known.priority, "links bring it forward, but not by a level"
        assert item == known or item.due or not self.always_in_memory
        self.taken[item.host] = item
        if self.always_in_memory:
            others = [other for other in self.waiting.values() if other.host == item.host and other.due <= self.now]
            assert all(item.priority <= other.priority for other in others)

    @precondition(lambda self: self.taken)
    @rule(
        data=st.data(),
        outcome=st.sampled_from(["done", "again", "later"]),
        rest=st.sampled_from([0.0, 1.0, 20.0]),
        parked=st.booleans(),
    )
    def finish(self, data: st.DataObject, outcome: str, rest: float, parked: bool) -> None:
        host = data.draw(st.sampled_from(sorted(self.taken)))
        item = self.taken.pop(host)
        if outcome == "done":
            self.left.append(item)
        else:
            if outcome == "later":
                item = item._replace(attempts=item.attempts + 1, due=self.now + 5.0)
                self.changed.append(item)
            self.waiting[item.url] = item
            self.links[item.url] = 1
            self.queues.put_back(item)
            self.put_back += 1
        self.ready[host] = self.now + rest
        (self.parked.add if parked else self.parked.discard)(host)
        self.queues.release(host, self.ready[host], parked="dns" if parked else "")

    @rule(host=st.sampled_from(HOSTS), rest=st.sampled_from([0.0, 20.0]))
    def extend_delay(self, host: str, rest: float) -> None:
        if host not in self.taken and host in self.queues._hosts:
            self.ready[host] = self.now + rest
            self.parked.discard(host)
            self.queues.release(host, self.ready[host])

    @rule()
    def write(self) -> None:
        self.disk.rows.update({item.url: item for item in (*self.admitted, *self.changed)})
        for item in self.left:
            del self.disk.rows[item.url]
        self.written.append((self.left, self.admitted))
        self.left, self.admitted, self.changed = [], [], []

    @precondition(lambda self: self.written)
    @rule()
    def acknowledge(self) -> None:
        self.queues.acknowledged(*self.written.pop(0))

    @rule()
    def kill(self) -> None:
        """URLs that were not written are lost; all others are queued again, and delays are kept."""
        self.admitted, self.left, self.changed, self.written = [], [], [], []
        self.taken, self.parked, self.put_back = {}, set(), 0
        self.waiting = dict(self.disk.rows)
        self.always_in_memory = False
        self.queues = Queues(self.disk, self.capacity)
        self.queues.load(HostPolicy(p.host, None, next_fetch=self.ready[p.host]) for p in self.disk.waiting_hosts())
        self.ready = {host: self.ready[host] if self.queues_know(host) else 0.0 for host in HOSTS}

    # invariants

    def queues_know(self, host: str) -> bool:
        return any(item.host == host for item in self.disk.rows.values())

    def may_be_taken(self, item: QueuedUrl) -> bool:
        """Whether every rule allows to take an item now."""
        free = item.host not in self.taken and self.ready[item.host] <= self.now
        known = self.waiting.get(item.url)
        same = known is not None and known == item._replace(priority=known.priority)
        return free and item.due <= self.now and same

    def acknowledged_as_waiting(self) -> list[QueuedUrl]:
        on_the_way = {item.url for _, admitted in self.written for item in admitted}
        rows = (self.waiting.get(url) for url in self.disk.rows if url not in on_the_way)
        return [item for item in rows if item is not None]

    @invariant()
    def memory_is_bounded(self) -> None:
        if hasattr(self, "queues"):
            delayed = sum(item.due > 0 for item in self.waiting.values())
            assert 0 <= self.queues.buffered <= self.capacity + self.put_back + delayed
            assert self.queues.buffered <= len(self.waiting)

    @invariant()
    def the_crawl_continues_for_hosts_that_are_not_parked(self) -> None:
        if hasattr(self, "queues"):
            hosts = {item.host for item in self.waiting.values()}
            if any(item.host not in self.parked for item in self.acknowledged_as_waiting()):
                assert self.queues.has_work()
            if not hosts - self.parked and not self.written:
                assert not self.queues.has_work() or self.must_read_disk()

    def must_read_disk(self) -> bool:
        """A host counts as having URLs on disk until the disk is read."""
        return any(host.on_disk for host in self.queues._hosts.values() if host.name not in self.parked)

    @invariant()
    def the_next_ready_time_is_not_missed(self) -> None:
        if hasattr(self, "queues"):
            next_ready = self.queues.next_ready()
            times = [
                max(self.ready[item.host], item.due)
                for item in self.acknowledged_as_waiting()
                if item.host not in self.taken
            ]
            assert next_ready is not None or not times
            assert (math.inf if next_ready is None else next_ready) <= min(times, default=math.inf)

    def drain(self) -> None:
        """No admitted URL is lost: each one is taken once when enough time has passed."""
        for host, item in list(self.taken.items()):
            del self.taken[host]
            self.waiting[item.url] = item
            self.links[item.url] = 1
            self.queues.put_back(item)
            self.queues.release(host, self.now)
        self.write()
        while self.written:
            self.acknowledge()
        self.now += 1000.0
        taken_items = take_all(self.queues, self.now)
        assert sorted(item.url for item in taken_items) == sorted(self.waiting)
        assert all(item._replace(priority=0.0) == self.waiting[item.url]._replace(priority=0.0) for item in taken_items)
        assert (self.queues.buffered, self.queues.has_work()) == (0, False)


@pytest.mark.slow
@pytest.mark.parametrize("examples", [150, pytest.param(50_000, marks=[pytest.mark.long], id="long")])
def test_queues_behave_like_their_model(examples: int) -> None:
    run_state_machine_as_test(QueuesModel, settings=settings(max_examples=examples, stateful_step_count=40))

"""Does the interval of a page follow how often the page changes?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import pytest

from periplus.config import Recrawl
from periplus.frontier.schedule import BOUNDS, RecrawlClass, Schedule, class_of, revisit_priority
from periplus.model import Decision, QueuedUrl, Reason, Verdict

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_800_000_000.0
PAGE = QueuedUrl("https://a.test/x", "a.test", 3, 3.0, Reason.LINK)


def law(**settings: Any) -> Schedule:
    return Schedule(Recrawl(**settings))


def met(interval: float, evidence: float = 0.4) -> QueuedUrl:
    """A page that was visited just now."""
    return PAGE._replace(interval=interval, evidence=evidence, due=NOW + interval, visited=NOW, visits=1)


def lived(schedule: Schedule, changes: Iterable[float], days: float) -> list[float]:
    """The times at which a page would be visited that changes at these."""
    item, times, known = schedule.visited(PAGE, NOW, changed=True), [NOW], sorted(changes)
    while item.due < NOW + days * DAY:
        changed = any(item.visited < change <= item.due for change in known)
        times.append(item.due)
        item = schedule.visited(item, item.due, changed=changed)
    return times


def gaps(times: list[float]) -> list[float]:
    return [(later - earlier) / DAY for earlier, later in itertools.pairwise(times)]


def test_the_first_interval_is_the_one_that_is_set() -> None:
    planned = law(first=5 * DAY).visited(PAGE, NOW, changed=True)
    assert (planned.interval, planned.due, planned.visited) == (5 * DAY, NOW + 5 * DAY, NOW)


@pytest.mark.parametrize(
    ("last_modified", "days"),
    [
        ("", 1),
        ("Fri, 15 Jan 2027 00:00:00 GMT", 1),  # today
        ("Sat, 17 Oct 2026 10:00:00 GMT", 9),  # 90 days ago
        ("Sun, 06 Nov 1994 08:49:37 GMT", 30),
        ("Thu, 01 Jan 2099 00:00:00 GMT", 1),
        ("yesterday", 1),
        ("Sun, 99 Nov 1994 08:49:37 GMT", 1),
        ("Sun, 06 Nov 9999999 08:49:37 GMT", 1),
    ],
)
def test_the_first_interval_is_a_tenth_of_the_age_of_a_page(last_modified: str, days: float) -> None:
    planned = law().visited(PAGE, NOW, changed=True, last_modified=last_modified)
    assert planned.interval == pytest.approx(days * DAY, rel=0.02)


@pytest.mark.parametrize("evidence", [0.4, 1.0, 3.0])
def test_a_changed_page_is_fetched_sooner_and_an_unchanged_one_later(evidence: float) -> None:
    item = met(4 * DAY, evidence)
    assert law().visited(item, item.due, changed=True).interval < 4 * DAY
    assert law().visited(item, item.due, changed=False).interval > 4 * DAY


def test_the_interval_of_a_page_that_never_changes_doubles_up_to_the_longest() -> None:
    assert gaps(lived(law(), [], 150)) == pytest.approx([1, 2, 4, 8, 16, 30, 30, 30])


@pytest.mark.parametrize("period", [1, 3, 7, 10])
def test_a_page_is_visited_as_often_between_its_changes_as_is_set(period: float) -> None:
    changes = [NOW + (turn + 0.3) * period * DAY for turn in range(200)]
    found = gaps(lived(law(visits_per_change=2.5), changes, 200 * period))[60:]
    assert period / (sum(found) / len(found)) == pytest.approx(2.5, rel=0.2)
    assert max(found) <= period


def test_no_interval_is_shorter_or_longer_than_the_bounds() -> None:
    schedule = law(shortest=2 * HOUR, longest=3 * DAY)
    busy = [NOW + turn * 600.0 for turn in range(10_000)]
    assert min(gaps(lived(schedule, busy, 30))) == pytest.approx(2 / 24)
    assert max(gaps(lived(schedule, [], 30))) == pytest.approx(3)


def test_a_page_that_begins_to_change_is_noticed() -> None:
    changes = [NOW + (200 + turn) * DAY for turn in range(200)]
    found = lived(law(), changes, 400)
    assert gaps(found)[-1] < 1
    assert next(b for a, b in itertools.pairwise(found) if b > changes[0] and b - a <= DAY) < changes[0] + 100 * DAY


def test_an_immediate_second_fetch_proves_nothing() -> None:
    item = met(4 * DAY)
    assert law().visited(item, NOW + 60, changed=False).interval == pytest.approx(4 * DAY, rel=0.001)


def test_a_page_unchanged_after_a_long_time_gets_a_longer_interval() -> None:
    assert law().visited(met(DAY), NOW + 20 * DAY, changed=False).interval > 10 * DAY


def test_a_change_after_a_long_time_means_little() -> None:
    assert law().visited(met(DAY), NOW + 100 * DAY, changed=True).interval == pytest.approx(DAY, rel=0.05)


def test_a_clock_that_was_set_back_does_no_harm() -> None:
    for changed in (True, False):
        assert 0 < law().visited(met(4 * DAY), NOW - 365 * DAY, changed=changed).interval <= 4.001 * DAY


def test_a_page_that_is_gone_is_fetched_at_the_longest_interval() -> None:
    assert law(longest=9 * DAY).gone(met(HOUR), NOW).due == NOW + 9 * DAY


@pytest.mark.parametrize(
    ("reason", "due"), [(Reason.ROBOTS, NOW + 30 * DAY), (Reason.SCOPE_HOST, math.inf), (Reason.NO_CONTACT, math.inf)]
)
def test_a_url_refused_by_its_site_is_tried_again_but_not_one_refused_by_our_rules(reason: Reason, due: float) -> None:
    refused = law().refused(met(DAY), Decision(Verdict.REFUSED, reason), NOW)
    assert (refused.due, refused.visited) == (due, NOW)


@pytest.mark.parametrize(
    ("interval", "name"),
    [
        (HOUR, RecrawlClass.HOT),
        (6 * HOUR, RecrawlClass.HOT),
        (7 * HOUR, RecrawlClass.DAILY),
        (DAY, RecrawlClass.DAILY),
        (2 * DAY, RecrawlClass.WEEKLY),
        (7 * DAY, RecrawlClass.WEEKLY),
        (8 * DAY, RecrawlClass.MONTHLY),
        (365 * DAY, RecrawlClass.MONTHLY),
    ],
)
def test_a_class_is_a_name_for_an_interval(interval: float, name: RecrawlClass) -> None:
    assert class_of(interval) is name


def test_every_class_but_the_last_has_a_bound() -> None:
    assert len(BOUNDS) == len(RecrawlClass) - 1


@pytest.mark.parametrize("name", RecrawlClass)
def test_a_pinned_page_stays_in_its_class_whatever_it_does(name: RecrawlClass) -> None:
    schedule = law(pinned={r"https://a[.]test/": name.value, "https://": "daily"})
    item = schedule.visited(PAGE, NOW, changed=True)
    for changed in (False, False, True, True):
        assert class_of(item.interval) is name
        item = schedule.visited(item, item.due, changed=changed)


def test_a_pin_matches_the_start_of_a_url() -> None:
    schedule = law(pinned={"test/": "hot", "https://b": "hot"})
    assert schedule.visited(PAGE, NOW, changed=True).interval == DAY


def test_new_pages_come_before_revisits_except_of_hot_pages() -> None:
    deep = PAGE._replace(depth=64, priority=64.0)
    assert revisit_priority(met(DAY)) > deep.priority
    assert revisit_priority(met(HOUR)) == PAGE.depth

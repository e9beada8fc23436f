"""Does the clock of a crawl keep counting when the system clock is set or the machine is suspended?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, settings_for
from periplus.crawl.clock import SteadyClock, wall_time
from periplus.crawl.run import Request, crawl
from testweb import Page, Site, TestWeb

DAY = 86_400.0


class Machine:
    """The clocks of a machine, set by the test."""

    def __init__(self) -> None:
        self.boot, self.wall = 5_000.0, 1_700_000_000.0

    def clock(self) -> SteadyClock:
        return SteadyClock(lambda: self.boot, lambda: self.wall)

    def pass_time(self, seconds: float) -> None:
        """Awake or suspended: both clocks count."""
        self.boot += seconds
        self.wall += seconds


def test_it_starts_with_the_system_time() -> None:
    before = time.time()
    now = SteadyClock().now()
    assert before - 0.01 <= now <= time.time() + 0.01


def test_it_never_runs_backwards() -> None:
    clock = SteadyClock()
    moments = [clock.now() for _ in range(1000)]
    assert moments == sorted(moments)


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_setting_the_system_clock_changes_no_delay(monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    clock = SteadyClock()
    before, real = clock.now(), time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert clock.now() - before < 5


def test_it_counts_the_time_of_suspension(monkeypatch: pytest.MonkeyPatch) -> None:
    slept, real = 0.0, time.clock_gettime
    monkeypatch.setattr(
        time, "clock_gettime", lambda number: real(number) + (slept if number == time.CLOCK_BOOTTIME else 0.0)
    )
    clock = SteadyClock()
    before, slept = clock.now(), 8 * 3_600.0
    assert clock.now() - before == pytest.approx(8 * 3_600.0, abs=5)


@pytest.mark.parametrize("jump", [-DAY, 3.0, DAY])
def test_dates_follow_the_system_clock(jump: float) -> None:
    machine = Machine()
    clock = machine.clock()
    assert (clock.ahead(), wall_time(clock)) == (0, machine.wall)
    machine.pass_time(10)
    machine.wall += jump
    assert clock.now() == machine.wall - jump
    assert wall_time(clock) == pytest.approx(machine.wall, abs=0.001)
    machine.pass_time(8 * 3_600)
    assert wall_time(clock) == pytest.approx(machine.wall, abs=0.001)


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_pages_have_the_right_date_and_delay_after_the_clock_was_set(tmp_path: Path, jump: float) -> None:
    jumps = iter([0.0])  # when the crawl begins; then the clock is set
    clock = SteadyClock(time_of_day=lambda: time.time() + next(jumps, jump))
    pages = {"/": Page(links=["/a", "/b"]), "/a": Page("a"), "/b": Page("b")}
    with TestWeb([Site("a.test", pages)]) as web:
        settings = settings_for(web, politeness__delay=0.1, recrawl__first=3_600)
        began = time.monotonic()
        crawl(Request(tmp_path, settings, ["http://a.test/"]), clock=clock)
    assert time.monotonic() - began < 20
    with catalog_of(tmp_path) as catalog:
        row, (fetch,) = catalog.url("http://a.test/b"), catalog.fetches_of("http://a.test/b")
        policy = catalog.policy("a.test")
    assert row is not None
    assert policy is not None
    today = time.time() + jump
    assert fetch.at == pytest.approx(today, abs=60)
    assert row["due"] == pytest.approx(today + 3_600, abs=60)
    assert policy.next_fetch == pytest.approx(today, abs=60)

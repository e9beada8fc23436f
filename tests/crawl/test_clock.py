"""Does the clock of a crawl stay calm when somebody sets the machine's?"""

from __future__ import annotations

import time

import pytest

from periplus.crawl.clock import SteadyClock


def test_it_tells_the_time_of_day() -> None:
    before = time.time()
    now = SteadyClock().now()
    assert before - 0.01 <= now <= time.time() + 0.01


def test_it_never_runs_backwards() -> None:
    clock = SteadyClock()
    moments = [clock.now() for _ in range(1000)]
    assert moments == sorted(moments)


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_setting_the_machines_clock_moves_no_delay(monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    clock = SteadyClock()
    before, real = clock.now(), time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert clock.now() - before < 5

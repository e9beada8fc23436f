"""Slow requests go to another replica, too, but only a few of all requests do."""

from __future__ import annotations

import random

from periplus.cluster.hedging import HedgePolicy

REQUESTS = 4_000


def hedged_share(usual: random.Random, policy: HedgePolicy, *, slow: float) -> float:
    """The share of hedged requests; some take ten times as long as the others. The first of two answers counts."""
    hedged = 0
    for number in range(REQUESTS):
        policy.sent()
        first, delay = _seconds(usual, slow), policy.delay("find")
        if first <= delay or not policy.take():
            policy.record("find", first)
            continue
        policy.sent()
        hedged += number >= REQUESTS // 2  # has learned
        second = _seconds(usual, slow)
        ended = min(first, delay + second)
        policy.record("find", ended)  # a lower bound of the first
        policy.record("find", min(second, ended - delay))
    return hedged / (REQUESTS // 2)


def _seconds(usual: random.Random, slow: float) -> float:
    return usual.uniform(0.01, 0.02) * (10 if usual.random() < slow else 1)


def test_few_requests_are_hedged_when_few_are_slow() -> None:
    assert 0.0 < hedged_share(random.Random(3), HedgePolicy(), slow=0.02) < 0.08


def test_at_most_a_tenth_of_all_requests_is_hedged_when_many_are_slow() -> None:
    policy = HedgePolicy()
    policy.delay = lambda method: 0.005  # type: ignore[method-assign]  # every request is slow
    assert 0.05 < hedged_share(random.Random(3), policy, slow=0.5) < 0.12


def test_the_delay_follows_slow_answers_and_has_bounds() -> None:
    policy = HedgePolicy()
    assert policy.delay("find") == 0.05
    for seconds, expected in ((0.2, 0.2), (0.0001, 0.005), (30.0, 0.5)):
        for _ in range(300):
            policy.record("find", seconds)
        assert policy.delay("find") == expected
    assert policy.delay("texts") == 0.05

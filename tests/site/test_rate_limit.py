"""A client that asks too often waits; the others do not notice."""

from __future__ import annotations

import pytest

from periplus.config import Serving
from periplus.site.rate_limit import MOST_CLIENTS, RateLimit
from web.engines import FakeEngine
from web.serving import searching

LIMITED = Serving(rate_limit=0.01, rate_burst=3)  # after three requests, one every 100 seconds


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    clock = Clock()
    limit = RateLimit(rate=2, burst=5, clock=clock)
    assert [limit.wait("203.0.113.7") for _ in range(6)] == [0, 0, 0, 0, 0, 1]
    clock.now += 0.5
    assert [limit.wait("203.0.113.7") for _ in range(2)] == [0, 1]
    clock.now += 3600
    assert [limit.wait("203.0.113.7") for _ in range(6)] == [0, 0, 0, 0, 0, 1]


def test_the_time_to_wait_is_enough() -> None:
    clock = Clock()
    limit = RateLimit(rate=0.1, burst=1, clock=clock)
    assert limit.wait("203.0.113.7") == 0
    wait = limit.wait("203.0.113.7")
    assert wait == 10
    clock.now += wait
    assert limit.wait("203.0.113.7") == 0


def test_every_client_has_a_bucket_of_its_own() -> None:
    limit = RateLimit(rate=1, burst=1, clock=Clock())
    assert [limit.wait(f"203.0.113.{last}") for last in (1, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.8", False),
        ("203.0.113.7", "203.0.113.8", False),
    ],
)
def test_an_ipv6_network_is_one_client(one: str, other: str, same: bool) -> None:
    limit = RateLimit(rate=1, burst=1, clock=Clock())
    assert limit.wait(one) == 0
    assert limit.wait(other) == (1 if same else 0)


def test_a_flood_of_addresses_takes_limited_memory() -> None:
    clock = Clock()
    limit = RateLimit(rate=1, burst=1, clock=clock)
    for number in range(MOST_CLIENTS + 500):
        limit.wait(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(limit) == MOST_CLIENTS
    assert limit.wait("10.0.40.0") == 1, "recent clients are remembered"


def test_a_client_above_the_limit_is_told_when_to_come_back() -> None:
    with searching(FakeEngine(), LIMITED) as site:
        assert [site.get("/search?q=x").status for _ in range(4)] == [200, 200, 200, 429]
        answer = site.get("/api/search?q=x")
        assert answer.status == 429
        assert int(answer.headers["retry-after"]) == 100
        assert answer.json == {"status": 429, "error": "Too many requests. Try again in 100 s."}
        assert "x-content-type-options" in answer.headers


def test_answers_from_memory_count_too() -> None:
    with searching(FakeEngine(fingerprint="1"), LIMITED) as site:
        assert [site.get("/api/search?q=x").status for _ in range(4)] == [200, 200, 200, 429]


def test_static_files_and_the_health_check_are_not_limited() -> None:
    with searching(FakeEngine(), LIMITED) as site:
        for path in ("/static/style.css", "/healthz", "/robots.txt"):
            assert [site.get(path).status for _ in range(5)] == 5 * [200]


def test_a_client_cannot_leave_its_bucket_with_a_forged_header() -> None:
    with searching(FakeEngine(), LIMITED) as site:
        statuses = [site.get("/search?q=x", {"X-Forwarded-For": f"203.0.113.{n}"}).status for n in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_behind_a_trusted_proxy_every_client_has_a_bucket_of_its_own() -> None:
    behind = LIMITED.model_copy(update={"trusted_proxies": ["127.0.0.0/8"]})
    with searching(FakeEngine(), behind) as site:
        for number in range(4):
            forged = {"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.1"}
            assert site.get("/search?q=x", forged).status == (429 if number == 3 else 200)
        assert site.get("/search?q=x", {"X-Forwarded-For": "203.0.113.2"}).status == 200


@pytest.mark.parametrize(
    ("settings", "is_public", "limited"),
    [
        (Serving(rate_burst=1), False, False),
        (Serving(rate_burst=1), True, True),
        (Serving(rate_burst=1, trusted_proxies=["192.0.2.1"]), False, True),
        (Serving(rate_burst=1, rate_limit=0), True, False),
        (Serving(rate_burst=1, rate_limit=0.01), False, True),
    ],
)
def test_a_public_site_is_limited_by_default(settings: Serving, is_public: bool, limited: bool) -> None:
    with searching(FakeEngine(), settings, is_public=is_public) as site:
        statuses = [site.get("/search?q=x").status for _ in range(30)]
    assert (429 in statuses) == limited

"""The next fetch of a host has a reason that the owner understands."""

from __future__ import annotations

import pytest

from periplus.config import Politeness
from periplus.inspector.next_fetch import next_fetch
from periplus.store.catalog.listings import HostRow

NOW = 1_000.0
HOST = HostRow("a.example", "a.example", 9, 3, 0, 0, None, "", 0.0, 0, None)


@pytest.mark.parametrize(
    ("host", "crawl", "cause", "at"),
    [
        (HOST._replace(blocked=5.0), "running", "blocked", None),
        (HOST._replace(queued=0), "running", "empty", None),
        (HOST, "stopped", "stopped", None),
        (HOST, "paused", "paused", None),
        (HOST._replace(failures=20, next_fetch=1_180.0), "running", "parked", 1_180.0),
        (HOST._replace(next_fetch=999.0), "running", "now", NOW),
        (HOST._replace(next_fetch=1_001.0), "running", "delay", 1_001.0),
        (HOST._replace(next_fetch=1_005.0, delay_why="Crawl-delay in robots.txt"), "running", "crawl-delay", 1_005.0),
        (HOST._replace(next_fetch=1_005.0, delay_why="HTTP 429"), "running", "429", 1_005.0),
        (HOST._replace(next_fetch=1_005.0, delay_why="HTTP 503"), "draining", "503", 1_005.0),
        (HOST._replace(next_fetch=1_005.0, delay_why="Retry-After of 60 s"), "running", "retry-after", 1_005.0),
        (HOST._replace(next_fetch=1_005.0, delay_why="no response"), "running", "adaptive", 1_005.0),
    ],
)  # fmt: skip
def test_the_cause_and_time_of_the_next_fetch(host: HostRow, crawl: str, cause: str, at: float | None) -> None:
    found = next_fetch(host, crawl, Politeness(), NOW)
    assert (found.cause, found.at) == (cause, at)
    assert found.sentence.endswith(".")


def test_a_crawl_delay_is_named_with_its_seconds() -> None:
    host = HOST._replace(next_fetch=1_005.0, delay=5.0, delay_why="Crawl-delay in robots.txt")
    found = next_fetch(host, "running", Politeness(), NOW)
    assert found.sentence == "Crawl-delay in robots.txt (5 s between requests)."


def test_a_parked_host_says_after_how_many_errors() -> None:
    found = next_fetch(HOST._replace(failures=25, next_fetch=2e3), "running", Politeness(), NOW)
    assert found.sentence == "Parked for this run after 25 errors in a row."

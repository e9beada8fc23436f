"""A search for the time in a place shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from periplus.config import Serving
from periplus.web.boxes.box import Question
from periplus.web.boxes.time_box import TimeBox
from periplus.web.places.finder import PlaceFinder
from web.boxes.places import finder
from web.boxes.waiting import boxed
from web.engines import FakeEngine
from web.serving import searching

NOW = datetime(2026, 11, 16, 18, 50, tzinfo=UTC)


def made(query: str, places: PlaceFinder | None = None, now: datetime = NOW) -> Mapping[str, Any] | None:
    box = asyncio.run(TimeBox(places or PlaceFinder(), lambda: now).make(Question(query)))
    assert box is None or (box.lifetime is not None and box.lifetime <= 60)
    return box.values if box else None


@pytest.mark.parametrize(
    ("query", "clock", "day", "offset", "difference"),
    [
        ("time in tokyo", "03:50", "Tuesday, 17 November 2026", "UTC+9", "9 hours ahead of UTC"),
        ("what time is it in lima", "13:50", "Monday, 16 November 2026", "UTC\N{MINUS SIGN}5", "5 hours behind UTC"),
        ("time in kolkata", "00:20", "Tuesday, 17 November 2026", "UTC+5:30", "5.5 hours ahead of UTC"),
        ("time in kathmandu", "00:35", "Tuesday, 17 November 2026", "UTC+5:45", "5.75 hours ahead of UTC"),
        ("london time", "18:50", "Monday, 16 November 2026", "UTC", ""),
        ("uhrzeit berlin", "19:50", "Monday, 16 November 2026", "UTC+1", "1 hour ahead of UTC"),
    ],
)
def test_the_time_of_a_place_is_shown(query: str, clock: str, day: str, offset: str, difference: str) -> None:
    values = made(query)
    assert values is not None
    assert (values["clock"], values["day"]) == (clock, day)
    assert (values["offset"], values["difference"]) == (offset, difference)


def test_summer_time_counts() -> None:
    values = made("time in berlin", now=datetime(2026, 7, 1, 12, 0, tzinfo=UTC))
    assert values is not None
    assert (values["clock"], values["offset"]) == ("14:00", "UTC+2")


@pytest.mark.parametrize("query", ["berlin", "weather berlin", "time", "time magazine"])
def test_other_searches_get_no_time(query: str) -> None:
    assert made(query) is None


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "/etc/passwd"])
def test_a_zone_that_the_machine_does_not_know_leaves_the_box_out(zone: str) -> None:
    assert made("time in aaa", finder("Aaa", zone=zone)) is None


def test_the_page_shows_the_time_and_is_not_stored() -> None:
    with searching(FakeEngine(fingerprint="one"), Serving(boxes=["time"])) as site:
        answer = boxed(site, "time in tokyo")
        (box,) = answer.page.select("section.instant")
        assert box.attrs["aria-label"] == "Time in Tokyo, Japan"
        assert "UTC+9, 9 hours ahead of UTC" in box.text
        assert answer.headers["cache-control"] == "private, no-store"

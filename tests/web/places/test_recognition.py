"""A query that names a place is told from one that only looks like it."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import pytest

from periplus.web.boxes.boxes import has_operators
from periplus.web.places.recognition import PlaceQuestion, recognise
from periplus.web.places.table import place_table

LIST = Path(__file__).parent.parent / "boxes/place_queries.tsv"


class Judged(NamedTuple):
    query: str
    box: str
    place: str


def judged() -> list[Judged]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return [Judged(*row) for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)][1:]


def found(query: str) -> PlaceQuestion | None:
    return None if has_operators(query) else recognise(query, place_table())


def answer(query: str) -> tuple[str, str]:
    one = found(query)
    return (one.topic or "weather", f"{one.place.name}/{one.place.country_code}") if one else ("-", "-")


@pytest.mark.parametrize("names_a_place", [True, False])
def test_at_least_95_of_100_queries_are_understood(names_a_place: bool) -> None:
    rows = [row for row in judged() if (row.box != "-") == names_a_place]
    wrong = {row.query: answer(row.query) for row in rows if answer(row.query) != (row.box, row.place)}
    assert len(rows) >= 150
    assert len(wrong) <= 0.05 * len(rows), wrong


ORDINARY = """
Hudson river school|paris agreement|may|reading list|reading|nice|mobile|orange|python|java|bath|split|man|of
boston consulting|chicago style|berlin wall|weather|time|weather channel|weather man|reading time|logos|pesto|soul
"""


@pytest.mark.parametrize("query", ORDINARY.strip().replace("\n", "|").split("|"))
def test_ordinary_queries_get_no_box(query: str) -> None:
    assert found(query) is None


def test_other_places_of_the_name_are_offered() -> None:
    one = found("weather paris texas")
    assert one is not None
    assert (one.place.label, [other.label for other in one.others]) == ("Paris, Texas", ["Paris, France"])


def test_a_region_may_be_named_with_its_country() -> None:
    assert answer("springfield, illinois, usa") == ("weather", "Springfield/US")
    assert found("springfield, illinois, france") is None


@pytest.mark.parametrize("query", ["", " ", ",", ",,,", "weather ,", "weather " * 40, "a" * 5_000, "🌧"])
def test_odd_queries_get_no_box(query: str) -> None:
    assert found(query) is None


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("weather islamabad", "Islamabad/PK"),  # Chattogram, with more people, was Islamabad once
        ("weather cancun", "Cancún/MX"),  # and Changchun is written so in some languages
        ("weather leon", "León de los Aldama/MX"),  # a short form counts as the own name
        ("wetter singapur", "Singapore/SG"),  # not Singāpur, a town in India
    ],
)
def test_a_place_that_calls_itself_so_comes_before_larger_ones_with_another_name(query: str, place: str) -> None:
    assert answer(query) == ("weather", place)


def test_a_country_or_region_is_not_a_town_elsewhere() -> None:
    assert found("weather in india") is None  # Inđija, Serbia
    assert found("weather florida") is None  # Floridablanca, Colombia
    assert answer("ontario, california") == ("weather", "Ontario/US")
    assert answer("weather washington") == ("weather", "Washington/US")


def test_a_country_or_region_with_one_time_zone_has_a_time() -> None:
    assert [answer(f"time in {name}") for name in ("india", "queensland")] == [
        ("time", "Mumbai/IN"),
        ("time", "Brisbane/AU"),
    ]
    assert [found(f"time in {name}") for name in ("china", "texas", "georgia", "us")] == [None] * 4

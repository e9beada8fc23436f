"""Places are found by the names that people type, offline and quickly."""

from __future__ import annotations

import subprocess
import sys

import pytest

from periplus.web.places import table as module
from periplus.web.places.names import normalised
from periplus.web.places.table import PlaceTable, place_table
from web.boxes.places import small_table


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("Munich", "Munich, Bavaria"),
        ("münchen", "Munich, Bavaria"),
        ("muenchen", "Munich, Bavaria"),
        ("nyc", "New York City, New York"),
        ("Wien", "Vienna, Austria"),
        ("москва", "Moscow, Russia"),
        ("東京", "Tokyo, Japan"),
        ("São Paulo", "São Paulo, Brazil"),
        ("sao paulo", "São Paulo, Brazil"),
        ("\u2019s-Hertogenbosch", "'s-Hertogenbosch, The Netherlands"),
    ],
)
def test_a_place_is_found_by_the_names_that_people_type(typed: str, label: str) -> None:
    assert place_table().named(normalised(typed))[0].label == label


def test_places_of_one_name_come_with_the_largest_first() -> None:
    found = place_table().named("paris")
    assert (found[0].label, found[0].zone, found[0].is_capital) == ("Paris, France", "Europe/Paris", True)
    assert "Paris, Texas" in [place.label for place in found]
    assert [place.population for place in found] == sorted((place.population for place in found), reverse=True)


def test_coordinates_are_those_of_the_place() -> None:
    place = place_table().named("boston")[0]
    assert (round(place.latitude), round(place.longitude), place.country_code) == (42, -71, "US")


@pytest.mark.parametrize("name", ["", "zzzzzz", "no such place", "\uffff", "a", "\t", "boston\t"])
def test_other_names_find_nothing(name: str) -> None:
    assert place_table().named(name) == []


def test_every_name_of_a_table_is_found() -> None:
    table = small_table("Aa", "Ab", "Abc", "B", "Zz")
    assert [table.named(name)[0].name for name in ("aa", "ab", "abc", "b", "zz")] == ["Aa", "Ab", "Abc", "B", "Zz"]
    assert table.named("abcd") == table.named("a") == table.named("zzz") == []


def test_countries_and_regions_have_names_and_abbreviations() -> None:
    area = place_table().area
    assert area("texas") == area("tx") == {"US.tx"}
    assert area("ca") == {"CA", "US.ca"}
    assert area("deutschland") == area("germany") == {"DE"}
    assert area("uk") == {"GB"}
    assert area("nowhere") == frozenset()


def test_the_file_is_small_and_is_read_once() -> None:
    assert module._FILE.stat().st_size < 1_500_000
    assert place_table() is place_table()


def test_the_table_takes_less_than_25_megabytes() -> None:
    script = """
import resource
from periplus.web.places.table import place_table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
place_table()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 25_000  # kilobytes, while it is read


def test_a_table_without_its_parts_is_an_error() -> None:
    with pytest.raises(ValueError, match="unpack"):
        PlaceTable(b"damaged")

"""A search that names a quantity and a unit is answered with the quantity in that unit."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from periplus.web.boxes.unit_table import UNITS
from periplus.web.boxes.units import UnitConverter
from web.boxes.judged import accuracy, made, rows

LISTED = rows("units.tsv")


def answer(query: str) -> str:
    """The result, `*` for common conversions, or nothing."""
    box = made(UnitConverter(), query)
    if box is None:
        return ""
    return "*" if box.values["is_common"] else str(box.values["results"][0])


def test_quantities_are_converted() -> None:
    right, wrong = accuracy([row for row in LISTED if row[1]], answer)
    assert right >= 0.97, wrong


def test_what_only_looks_like_a_quantity_is_not_converted() -> None:
    right, wrong = accuracy([row for row in LISTED if not row[1]], answer)
    assert right >= 0.97, wrong


def test_the_lists_are_long_enough_to_mean_something() -> None:
    assert sum(bool(expected) for _, expected in LISTED) >= 150
    assert sum(not expected for _, expected in LISTED) >= 150
    assert len({query for query, _ in LISTED}) == len(LISTED)


def test_a_quantity_alone_shows_common_conversions() -> None:
    box = made(UnitConverter(), "5'11\"")
    assert box is not None
    assert box.values["source"] == "5 ft 11 in"
    assert box.values["results"] == ["180.34 cm", "1.8034 m"]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("1 gallon in liters", "US measures"),
        ("1 imperial pint in ml", "Imperial measures"),
        ("1 year in days", "A year of 365.2425 days, the mean of the Gregorian calendar"),
        ("1 km in m", ""),
    ],
)
def test_the_box_says_which_gallon_and_which_year_it_means(query: str, note: str) -> None:
    box = made(UnitConverter(), query)
    assert box is not None
    assert box.values["note"] == note


def test_a_rounded_result_is_marked() -> None:
    exact, rounded = made(UnitConverter(), "1 inch in cm"), made(UnitConverter(), "1 cm in inches")
    assert exact is not None
    assert rounded is not None
    assert (exact.values["sign"], rounded.values["sign"]) == ("=", "≈")


@pytest.mark.parametrize(
    "query",
    [
        "1e999999 km in miles",
        "1e-999999 km in miles",
        "9" * 80 + " km in m",
        "1 km " * 19 + "in m",
        "in " * 33,
        "1/0 km in m",
        "how many " * 11,
        "0 mpg in l/100km",
        "a" * 1_000_000,
        "1 km in m" + " " * 1_000_000,
        "٣ km in miles",
    ],
    ids=lambda query: query[:20],
)
def test_a_hostile_quantity_costs_a_few_milliseconds(query: str) -> None:
    def seconds() -> float:
        begun = time.thread_time()
        made(UnitConverter(), query)
        return time.thread_time() - begun

    assert min(seconds() for _ in range(3)) < 0.02, "measured: at most 1 ms; the rest is for a busy machine"


def test_huge_numbers_are_refused() -> None:
    assert answer("1e60 km in m") == "1 × 10^63 m"
    assert answer("1e61 km in m") == ""


def test_every_dimension_has_one_first_unit_and_different_symbols() -> None:
    units = {unit for found in UNITS.values() for unit in found}
    assert len({unit.symbol for unit in units}) == len(units)
    for dimension in {unit.dimension for unit in units}:
        assert any(unit.dimension == dimension and unit.factor == 1 and not unit.offset for unit in units), dimension


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("mile", "1609.344"),
        ("gallon", "3.785411784"),
        ("imperial gallon", "4.54609"),
        ("troy ounce", "0.0311034768"),
        ("acre", "4046.8564224"),
        ("light year", "9460730472580800"),
        ("cup", "0.2365882365"),
        ("short ton", "907.18474"),
        ("knot", "1852/3600"),
        ("ps", "735.49875"),
        ("hp", "745.69987158227022"),
    ],
)
def test_factors_are_those_of_the_definitions(name: str, factor: str) -> None:
    numerator, _, denominator = factor.partition("/")
    assert UNITS[name][0].factor == Fraction(numerator) / Fraction(denominator or 1)

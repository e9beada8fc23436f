"""Converts units, such as `10 km in miles`.

The table of about 150 units is ours: the package pint would add a second parser and 20,000 lines for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.numbers import number_at, shown
from periplus.web.boxes.unit_table import FUEL, TEMPERATURE, UNITS, Unit

_LONGEST = 100  # characters of a query
_LARGEST = 60  # the largest exponent of ten of a typed number
_CONTEXT = Context(prec=60)
_DIGITS = 7  # significant digits of a rounded result
_EXACT_DIGITS = 9  # a result of at most so many digits is not rounded

_LEAD_IN = re.compile(
    r"^(?:what(?:'s| is| are)|how much (?:is|are)|convert|was (?:ist|sind)|wie ?viel (?:ist|sind))\s+"
)
_HOW_MANY = re.compile(
    r"(?:how many|wie ?viele?) (?P<unit>.+?) (?:are |is |sind |hat |make )?(?:there )?(?:in )?"
    r"(?P<quantity>(?:an? |one |eine? |[0-9]).+)"
    r"|(?P<units>\D+) in (?P<one>(?:an?|one) .+)"
)
_BETWEEN = re.compile(r"\s*(?:->|=>|→|=)\s*|\s+(?:in|to|into|as|nach|zu)(?=\s)|\s")
_FEET = re.compile(r"\b([0-9]{1,3})\s*'(?:\s*([0-9]{1,2}(?:\.[0-9]+)?)(?:\s*(?:\"|''))?)?(?![0-9])")
_SIGNS = str.maketrans(
    {"²": "2", "³": "3", "^": "", "μ": "u", "\u2032": "'", "’": "'", "″": '"', "”": '"', "−": "-", "º": "°"}
)
_NAME = re.compile("|".join(map(re.escape, sorted(UNITS, key=len, reverse=True))))
_INSIDE = re.compile(r"[\w°/]")  # a unit does not end before these
_FRACTION = re.compile(r"(?:([0-9]{1,6})\s+)?([0-9]{1,6})\s*/\s*([0-9]{1,6})(?![0-9.,])", re.ASCII)
_ARTICLE = re.compile(r"(?:an?|one|eine?)\s+")

# What is shown for a quantity alone, by the name of its unit. Most names have other uses: 16 GB, 9 mm, 24 hours.
_COMMON = {
    "km kms kilometers kilometres": "mi",
    "mi miles meilen": "km",
    "cm": "in ft",
    "inches": "cm",
    "ft feet": "cm m",
    "yards": "m",
    "kg kilos kilograms": "lb",
    "lb lbs": "kg",
    "oz ounces": "g",
    "°c celsius": "°f",
    "°f fahrenheit": "°c",
    "km/h kmh kph": "mph",
    "mph": "km/h",
    "gallons": "l",
    "liters litres": "gallons imp_gal",
    "acres": "ha m2",
}
_COMMON_TARGETS = {name: targets.split() for names, targets in _COMMON.items() for name in names.split()}


class _Quantity(NamedTuple):
    """A number of a unit, or a sum such as 5 ft 3 in."""

    numbers: tuple[Fraction, ...]
    names: tuple[str, ...]
    has_number: bool  # a number was typed, or an article

    def units(self) -> Iterator[tuple[Unit, ...]]:
        """The readings of the names: all units of a reading have the same dimension."""
        for first in UNITS[self.names[0]]:
            rest = [[unit for unit in UNITS[name] if unit.dimension == first.dimension] for name in self.names[1:]]
            if all(rest):
                yield (first, *(units[0] for units in rest))


class _Result(NamedTuple):
    """A converted quantity."""

    source: str
    text: str
    is_exact: bool
    note: str


class UnitConverter:
    """Makes the box with a converted quantity."""

    name = "units"

    async def make(self, question: Question) -> Box | None:
        """The box for a search; None when the search names no quantity, or units of two dimensions."""
        if len(question.query) > _LONGEST:
            return None
        text = _plain(question.query)
        converted = _answer(text)
        results = [converted] if converted else _common(text)
        if not results:
            return None
        values = {
            "source": results[0].source,
            "sign": "=" if all(result.is_exact for result in results) else "≈",
            "results": [result.text for result in results],
            "is_common": converted is None,
            "note": next((result.note for result in results if result.note), ""),
        }
        return Box("boxes/units.html", values)


def _plain(query: str) -> str:
    """The query in small letters and plain signs, without lead-in; feet and inches as words."""
    text = " ".join(query.casefold().translate(_SIGNS).split()).rstrip("? ")
    return _FEET.sub(_feet_and_inches, _LEAD_IN.sub("", text, count=1))


def _feet_and_inches(found: re.Match[str]) -> str:
    return f"{found[1]} ft {found[2]} in" if found[2] else f"{found[1]} ft"


def _answer(text: str) -> _Result | None:
    """The conversion that a query asks for."""
    results = (_converted(quantity, target) for quantity, target in _readings(text))
    return next((result for result in results if result is not None), None)


def _readings(text: str) -> Iterator[tuple[_Quantity, str]]:
    """The quantities and target units that a query may mean."""
    if asked := _HOW_MANY.fullmatch(text):
        quantity, target = _quantity(asked["quantity"] or asked["one"]), asked["unit"] or asked["units"]
        if quantity is not None and target in UNITS:
            yield quantity, target
    for between in _BETWEEN.finditer(text):
        target = text[between.end() :].strip()
        if target in UNITS and (between[0].strip() or target != "in"):
            quantity = _quantity(text[: between.start()].strip())
            if quantity is not None and (quantity.has_number or _is_clear(quantity.names[0], target, between[0])):
                yield quantity, target


def _is_clear(name: str, target: str, between: str) -> bool:
    """Whether two units without a number are a conversion: `km to miles`, but not `c to f` or `day in week`."""
    dimension, word = UNITS[target][0].dimension, between.strip()
    if dimension == TEMPERATURE or (dimension == "time" and word == "in"):
        return False
    return bool(word) and min(len(name), len(target)) > 1


def _quantity(text: str) -> _Quantity | None:
    """The quantity that is the whole text."""
    article = _ARTICLE.match(text)
    rest = text[article.end() :] if article else text
    if rest in UNITS:
        return _Quantity((Fraction(1),), (rest,), has_number=article is not None)
    numbers, names, position = [], [], 0
    while position < len(text):
        number = _number(text, position)
        name = _NAME.match(text, _after_spaces(text, number[1])) if number else None
        if number is None or name is None or _INSIDE.match(text, name.end()):
            return None
        numbers.append(number[0])
        names.append(name[0])
        position = _after_spaces(text, name.end())
    return _Quantity(tuple(numbers), tuple(names), has_number=True) if numbers else None


def _after_spaces(text: str, position: int) -> int:
    while text[position : position + 1] == " ":
        position += 1
    return position


def _number(text: str, position: int) -> tuple[Fraction, int] | None:
    """A number such as 2.5, 1/2 or 2 1/2 at a position, and its end."""
    if fraction := _FRACTION.match(text, position):
        whole, above, below = (int(part or 0) for part in fraction.groups())
        return (whole + Fraction(above, below), fraction.end()) if below else None
    sign = -1 if text[position : position + 1] == "-" else 1
    found = number_at(text, position + (sign < 0))
    if found is None or abs(Decimal(found[0]).adjusted()) > _LARGEST:
        return None
    return sign * Fraction(found[0]), found[1]


def _converted(quantity: _Quantity, target: str) -> _Result | None:
    """The quantity in the target unit; None when the dimensions differ."""
    for units in quantity.units():
        for unit in UNITS[target]:
            if unit.dimension == units[0].dimension and units != (unit,):
                return _in_unit(quantity, units, unit)
    return None


def _in_unit(quantity: _Quantity, units: tuple[Unit, ...], unit: Unit) -> _Result | None:
    """The quantity in a unit of the same dimension; None when the quantity makes no sense."""
    if not _is_sensible(quantity, unit.dimension):
        return None
    parts = list(zip(quantity.numbers, units, strict=True))
    base = sum((_base(number, one) for number, one in parts), Fraction(0))
    value = ((1 / base if unit.is_inverse else base) - unit.offset) / unit.factor
    text, is_exact = _shown(value)
    source = " ".join(_with_unit(_shown(number)[0], one) for number, one in parts)
    return _Result(source, _with_unit(text, unit), is_exact, unit.note or units[0].note)


def _is_sensible(quantity: _Quantity, dimension: str) -> bool:
    """Only temperatures may be negative, and neither two temperatures nor two consumptions have a sum."""
    if dimension == TEMPERATURE:
        return len(quantity.numbers) == 1
    if dimension == FUEL:
        return len(quantity.numbers) == 1 and quantity.numbers[0] > 0
    return min(quantity.numbers) >= 0


def _base(number: Fraction, unit: Unit) -> Fraction:
    """The number in the first unit of the dimension."""
    base = number * unit.factor + unit.offset
    return 1 / base if unit.is_inverse else base


def _shown(value: Fraction) -> tuple[str, bool]:
    decimal = _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return shown(decimal, _DIGITS, _EXACT_DIGITS)


def _with_unit(number: str, unit: Unit) -> str:
    return f"{number}{unit.symbol}" if unit.symbol == "°" else f"{number} {unit.symbol}"


def _common(text: str) -> list[_Result]:
    """Common conversions of a query that is only a quantity."""
    quantity = _quantity(text)
    if quantity is None or not quantity.has_number or quantity.names[0] not in _COMMON_TARGETS:
        return []
    targets = (name.replace("_", " ") for name in _COMMON_TARGETS[quantity.names[0]])
    return [result for target in targets if (result := _converted(quantity, target)) is not None]

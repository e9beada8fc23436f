"""Which places have this name? Reads an offline table of the world's cities.

`tools/places.py` builds the table from GeoNames. It has every city with at least 15,000 people. It is read when the
first name is looked up, in about 0.1 seconds. A lookup is a binary search over the sorted lines of the names.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("places.xz")


class Place(NamedTuple):
    """A city."""

    name: str
    country_code: str  # ISO 3166, such as FR
    country: str
    region_code: str  # such as tx; empty where the table has none
    region: str
    latitude: float
    longitude: float
    zone: str  # time zone, such as Europe/Paris
    population: int
    is_capital: bool

    @property
    def label(self) -> str:
        """The name with its region or country, such as `Paris, Texas`."""
        return f"{self.name}, {self.region or self.country}" if self.name != self.country else self.name

    def is_in(self, codes: frozenset[str]) -> bool:
        """Whether the place is in one of the countries (`FR`) or regions (`US.tx`)."""
        return self.country_code in codes or f"{self.country_code}.{self.region_code}" in codes


class _Area(NamedTuple):
    """A country or a region."""

    largest: int  # the number of its place with the most people
    zone: bytes  # the time zone of all its places; empty: they have several


class PlaceTable:
    """Finds places by name, and the countries and regions that may follow a name."""

    def __init__(self, text: bytes) -> None:
        """*text*: lines of places, of names and of qualifiers, with an empty line between the three parts."""
        places, names, qualifiers = text.split(b"\n\n")
        self._places = places.split(b"\n")
        self._names = b"\n" + names + b"\n"
        self._qualifiers = dict(line.split("\t") for line in qualifiers.decode().split("\n"))

    def named(self, name: str) -> list[Place]:
        """The places with this normalised name, those with the most people first."""
        return [self._place(int(number)) for number in self._numbers(name.encode())]

    def area(self, qualifier: str) -> frozenset[str]:
        """The codes of the countries and regions with this normalised name or abbreviation."""
        return frozenset(self._qualifiers.get(qualifier, "").split())

    @cached_property
    def _areas(self) -> dict[str, _Area]:
        return _areas(self._places)  # takes 50 ms, and few searches need it

    def with_one_zone(self, codes: frozenset[str]) -> Place | None:
        """The largest place in these countries or regions; None when they have several time zones."""
        areas = [self._areas[code] for code in codes if code in self._areas]
        is_one = len({area.zone for area in areas}) == 1 and areas[0].zone
        return self._place(min(area.largest for area in areas)) if is_one else None

    def _numbers(self, name: bytes) -> list[bytes]:
        key, names = name + b"\t", self._names
        low, high = 0, len(names) - 1  # each is at the line break before a line
        while low < high:
            start = names.rfind(b"\n", low, (low + high) // 2 + 1)
            start = low if start < 0 else start
            end = names.find(b"\n", start + 1)
            line = names[start + 1 : end]
            if line.startswith(key):
                return line[len(key) :].split()
            low, high = (low, start) if line > key else (end, high)
        return []

    def _place(self, number: int) -> Place:
        name, code, country, short, region, *rest = self._places[number].decode().split("\t")
        latitude, longitude, zone, population, capital = rest
        return Place(
            name, code, country, short, region, float(latitude), float(longitude), zone, int(population), bool(capital)
        )


def _areas(places: Sequence[bytes]) -> dict[str, _Area]:
    """By code: countries (`FR`) and regions (`US.tx`)."""
    found: dict[bytes, _Area] = {}
    for number, line in enumerate(places):
        _, country, _, region, _, _, _, zone, _ = line.split(b"\t", 8)
        for code in (country, b"%s.%s" % (country, region)):
            area = found.setdefault(code, _Area(number, zone))
            if area.zone not in (zone, b""):
                found[code] = area._replace(zone=b"")
    return {code.decode(): area for code, area in found.items()}


@cache
def place_table() -> PlaceTable:
    """The table of the package."""
    return PlaceTable(lzma.decompress(_FILE.read_bytes()))

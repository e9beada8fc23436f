"""Small tables of places for tests."""

from __future__ import annotations

from periplus.web.places.finder import PlaceFinder
from periplus.web.places.names import normalised
from periplus.web.places.table import PlaceTable


def small_table(*names: str, region: str = "", country: str = "Nowhere", zone: str = "Europe/Paris") -> PlaceTable:
    """Places with these names, which are also searched for; each has a million people."""
    rows = [f"{name}\tNW\t{country}\t\t{region}\t1.00\t2.00\t{zone}\t1000000\t" for name in names]
    keys = sorted(f"{normalised(name) or number}\t{number}" for number, name in enumerate(names))
    return PlaceTable("\n\n".join(["\n".join(rows), "\n".join(keys), "nowhere\tNW"]).encode("utf-8", "replace"))


def finder(*names: str, **fields: str) -> PlaceFinder:
    """Finds these places only."""
    return PlaceFinder(lambda: small_table(*names, **fields))

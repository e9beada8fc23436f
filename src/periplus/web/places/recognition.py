"""Which place does this query name, and does it ask for the weather or the time there?

A query with a word such as "weather" or "time" must consist of that word, a place, and words such as "in" and "today".
A query without one must be the name of a well-known place, or a place with its country or region. The time may also be
that of a country or region with one time zone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from periplus.web.places import words
from periplus.web.places.names import normalised
from periplus.web.places.table import Place, PlaceTable

Topic = Literal["weather", "time"]

_COMMA = re.compile("[,\u060c\u3001\uff0c]")  # also Arabic, Chinese and Japanese
_MOST_WORDS = 10
_MOST_CHARACTERS = 100
_LONGEST_CODE = 2  # characters
_QUALIFIER_WORDS = 4  # at most, such as "district of columbia"
_WELL_KNOWN = 100_000  # people of a place that a query may name alone
_WELL_KNOWN_ELSEWHERE = 1_000_000  # the same, by its name in another script
_OTHERS = 3  # places of the same name that are offered


class PlaceQuestion(NamedTuple):
    """The place that a query names."""

    topic: Topic | None  # None: only the place
    place: Place
    others: tuple[Place, ...]  # of the same name


class _Named(NamedTuple):
    name: str
    qualifier: str  # the country or region; empty: none
    has_comma: bool
    places: list[Place]


def recognise(query: str, table: PlaceTable) -> PlaceQuestion | None:
    """The place that the whole query is about; None for most queries."""
    if len(query) > _MOST_CHARACTERS:
        return None
    tokens = _tokens(query)
    if not 0 < len(tokens) <= _MOST_WORDS:
        return None
    topic: Topic | None = "weather" if words.WEATHER & {*tokens} else "time" if words.TIME & {*tokens} else None
    if topic is None:
        found = _named(tokens, table)
        return _question(None, found, table) if found and _is_well_known(found) else None
    asked = words.WEATHER if topic == "weather" else words.TIME
    for place, has_connector in _parts(tokens, asked):
        found = _named(place, table)
        if found and (found.qualifier or _may_follow(topic, found, has_connector=has_connector)):
            return _question(topic, found, table)
        if topic == "time" and (largest := table.with_one_zone(_area(" ".join(place), table))):
            return PlaceQuestion(topic, largest, ())
    return None


def _tokens(query: str) -> list[str]:
    """The normalised words; a comma is a word."""
    for word in words.UNSPACED:
        query = query.replace(word, f" {word} ")
    text = " , ".join(filter(None, map(normalised, _COMMA.split(query))))
    for phrase, word in words.PHRASES.items():
        text = re.sub(rf"\b{phrase}\b", word, text)
    return text.split()


def _parts(tokens: list[str], asked: frozenset[str]) -> Iterator[tuple[list[str], bool]]:
    """The parts of the query that may be a place, longest first; with whether a word such as "in" precedes it."""
    first = next(place for place, word in enumerate(tokens) if word in asked)
    before, after = tokens[:first], tokens[first + 1 :]
    if words.BEFORE.issuperset(before):
        yield from _trimmed(after, asked)
    if words.AFTER.issuperset(after):
        yield from _trimmed(before, asked)


def _trimmed(tokens: list[str], asked: frozenset[str]) -> Iterator[tuple[list[str], bool]]:
    """The tokens without words such as "in" at the start and "today" at the end."""
    removable = words.BEFORE | asked
    starts = [0]
    while starts[-1] < len(tokens) and tokens[starts[-1]] in removable:
        starts.append(starts[-1] + 1)
    ends = [len(tokens)]
    while ends[-1] > 0 and tokens[ends[-1] - 1] in words.AFTER | asked:
        ends.append(ends[-1] - 1)
    for start in starts:
        for end in ends:
            if start < end:
                yield tokens[start:end], start > 0 and tokens[start - 1] in words.CONNECTORS


def _named(tokens: list[str], table: PlaceTable) -> _Named | None:
    """The places that the tokens name: a name, or a name and its country or region."""
    if "," in tokens:
        comma = tokens.index(",")
        name, rest = " ".join(tokens[:comma]), " ".join(tokens[comma + 1 :])
        return _qualified(name, rest.split(" , "), table)
    name = " ".join(tokens)
    direct = _Named(name, "", has_comma=False, places=_not_elsewhere(name, _places(name, table), table))
    if direct.places and _has_name(direct.places[0], name):
        return direct
    for size in range(1, min(_QUALIFIER_WORDS, len(tokens) - 1) + 1):
        found = _qualified(" ".join(tokens[:-size]), [" ".join(tokens[-size:])], table)
        if found:
            return found._replace(has_comma=False)
    return direct if direct.places else None


def _places(name: str, table: PlaceTable) -> list[Place]:
    """The places with this name; first those that call themselves so: Islamabad was a name of Chattogram, too."""
    found = table.named(name)
    return found if name in words.OTHER_NAMES else sorted(found, key=lambda place: not _has_name(place, name))


def _has_name(place: Place, name: str) -> bool:
    """Whether the words are a part of the own name of the place: `leon` of León de los Aldama."""
    return _name_words(name) <= _name_words(normalised(place.name))


def _name_words(name: str) -> set[str]:
    return {"saint" if word == "st" else word for word in name.split()}


def _not_elsewhere(name: str, places: list[Place], table: PlaceTable) -> list[Place]:
    """Without towns outside the country or region of this name: India is not Inđija in Serbia."""
    area = _area(name, table)
    return [place for place in places if place.is_in(area) or place.is_capital] if area else places


def _area(name: str, table: PlaceTable) -> frozenset[str]:
    """The country or region of this name; a code such as `la` is rather a city."""
    return table.area(name) if len(name) > _LONGEST_CODE or name in words.COUNTRY_CODES else frozenset()


def _qualified(name: str, qualifiers: list[str], table: PlaceTable) -> _Named | None:
    places = _places(name, table)
    for qualifier in qualifiers:
        area = table.area(qualifier)
        places = [place for place in places if place.is_in(area)]
    return _Named(name, " ".join(qualifiers), has_comma=True, places=places) if places else None


def _is_well_known(found: _Named) -> bool:
    """Whether a query that is nothing but this name means the place."""
    place, name = found.places[0], found.name
    if found.qualifier:
        return found.has_comma or found.qualifier not in words.QUALIFIER_WORDS
    if name in words.ORDINARY | words.BETTER_KNOWN or len(name) < 3 - (not name.isascii()):
        return False
    if name == normalised(place.name):
        return place.population >= _WELL_KNOWN or place.is_capital
    return name in words.OTHER_NAMES or (not name.isascii() and place.population >= _WELL_KNOWN_ELSEWHERE)


def _may_follow(topic: Topic, found: _Named, *, has_connector: bool) -> bool:
    """Whether the name means the place beside "weather" or "time"; a word such as "in" makes that likely."""
    place, name = found.places[0], found.name
    is_other_name = name != normalised(place.name)
    if name in words.BETTER_KNOWN:
        return False
    if has_connector:
        return topic == "weather" or not is_other_name or place.population >= _WELL_KNOWN
    if topic == "time":
        return name not in words.ORDINARY and place.population >= _WELL_KNOWN
    is_ordinary = is_other_name and name in words.ORDINARY and name not in normalised(place.name).split()
    return name not in words.NOT_AFTER_WEATHER and not is_ordinary


def _question(topic: Topic | None, found: _Named, table: PlaceTable) -> PlaceQuestion:
    place = found.places[0]
    others = {other.label: other for other in table.named(found.name) if normalised(other.name) == found.name}
    others.pop(place.label, None)
    return PlaceQuestion(topic, place, tuple(others.values())[:_OTHERS])

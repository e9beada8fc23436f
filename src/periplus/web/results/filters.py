"""Prepares the filters of a result page: menus of links with counts, and chips for the active filters."""

from __future__ import annotations

from typing import NamedTuple

from periplus.model import FacetCounts
from periplus.parse.language import name_of
from periplus.web.display import visible
from periplus.web.parameters import AGES, SearchParameters, since

_TYPES = {"html": "Web page", "pdf": "PDF", "text": "Text", "feed": "Feed", "xml": "XML"}
_TIMES = {"day": "Past day", "week": "Past week", "month": "Past month", "year": "Past year"}
_TITLES = {"time": "Time", "lang": "Language", "type": "Type", "site": "Site"}
_MOST_CHOICES = 10  # in one menu


class Choice(NamedTuple):
    """A link that adds a filter."""

    text: str
    link: str
    pages: int | None  # results with the filter; None: not counted


class Menu(NamedTuple):
    """The choices for one filter."""

    title: str
    choices: tuple[Choice, ...]


class Chip(NamedTuple):
    """An active filter; the link removes it."""

    text: str
    link: str


def dates() -> tuple[str, ...]:
    """The days whose newer pages are counted."""
    return tuple(since(name) for name in AGES)


def menus(parameters: SearchParameters, counts: FacetCounts, total: int) -> list[Menu]:
    """The menus of the filters that are not active; choices that keep all *total* results are left out."""
    newer = dict(counts.newer)
    found = {
        "time": [(name, newer.get(since(name), 0)) for name in AGES],
        "lang": counts.languages,
        "type": counts.types,
        "site": counts.sites,
    }
    made = []
    for name, values in found.items():
        useful = [(value, count) for value, count in values if 0 < count < total][:_MOST_CHOICES]
        if useful and name not in parameters.filters:
            made.append(Menu(_TITLES[name], tuple(_choice(parameters, name, *one) for one in useful)))
    return made


def plain_menus(parameters: SearchParameters, counts: FacetCounts) -> list[Menu]:
    """The menus of a tab whose results the *counts* do not count: time, and languages and sites of the pages."""
    found = {"time": AGES, "lang": dict(counts.languages), "site": dict(counts.sites)}
    made = []
    for name, values in found.items():
        if len(values) > 1 and name not in parameters.filters:
            shown = list(values)[:_MOST_CHOICES]
            made.append(Menu(_TITLES[name], tuple(_choice(parameters, name, value, None) for value in shown)))
    return made


def _choice(parameters: SearchParameters, name: str, value: str, pages: int | None) -> Choice:
    return Choice(label(name, value), parameters.with_filters(**{name: value}).link(), pages)


def chips(parameters: SearchParameters) -> list[Chip]:
    """The active filters."""
    active = parameters.filters.items()
    return [Chip(label(name, value), parameters.with_filters(**{name: ""}).link()) for name, value in active]


def label(name: str, value: str) -> str:
    """A filter as the reader sees it."""
    match name:
        case "time":
            return _TIMES[value]
        case "type":
            return _TYPES[value]
        case "lang":
            return name_of(value)
        case _:
            return visible(value)

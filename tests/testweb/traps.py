"""Sites that lead a crawler from page to page without anything new.

Each hides a few pages that are worth finding and can be reached through the trap only.
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from urllib.parse import parse_qsl, urlencode

from . import prose
from .page import ComputedPages, Page, Site

_START = 2024 * 12  # January 2024, in months
_CALENDAR = re.compile(r"/calendar/(\d{4})/(\d\d)(?:/(\d\d))?")
_ARTICLE = re.compile(r"/article/(\d{1,4})(?:\?visit=[0-9a-f]{16})?")
_ITEM = re.compile(r"/item/(\d{1,4})")
_FACETS = {
    "brand": ["north", "east", "south", "west", "polar", "solar"],
    "colour": ["red", "green", "blue", "white", "black"],
    "size": ["small", "medium", "large"],
    "sort": ["price", "name", "newest", "weight", "rating"],
    "view": ["table", "tiles", "rows"],
}
_ITEMS, _ON_A_LIST = 60, 10


@dataclass(frozen=True)
class Trap:
    """A site, and which of its pages are useful."""

    site: Site
    good: frozenset[str]  # their content; two URLs may show the same

    def found(self, paths: Iterable[str]) -> set[str]:
        """The useful content of these paths."""
        shown = (self.site.page(path) for path in paths)
        return {page.title for page in shown if page is not None} & self.good


def event_calendar(host: str) -> Trap:
    """Endless months and days without events, but for a few: most of those have a page, one is told by its day."""
    own = {(_START + 3, 14): "/events/1", (_START + 7, 2): "/events/2", (_START - 5, 21): "/events/3"}
    events = {**dict.fromkeys(own), (_START + 1, 9): None}

    def compute(path: str) -> Page | None:
        if path == "/":
            return Page("Town hall", prose.text(host), ["/calendar/2024/01"], lang="en")
        if path in own.values():
            return Page(prose.title(host + path), prose.text(host + path), ["/"], lang="en")
        match = _CALENDAR.fullmatch(path)
        if match is None:
            return None
        months, day = int(match[1]) * 12 + int(match[2]) - 1, int(match[3] or 0)
        if day:
            return _day(months, day)
        name = f"{month_name[months % 12 + 1]} {months // 12}"
        told = [f"On the {on}th: {prose.title(f'{host} {months} {on}')}." for there, on in events if there == months]
        days = [(f"{_month(months)}/{on:02}", str(on)) for on in range(1, 29)]
        around = [(_month(months - 1), "Previous month"), (_month(months + 1), "Next month")]
        return Page(f"Calendar: {name}", f"{name}\n\n{' '.join(told)}", days + around, lang="en")

    def _day(months: int, day: int) -> Page:
        name = f"{day_name[date(months // 12, months % 12 + 1, day).weekday()]}, {day} {month_name[months % 12 + 1]}"
        month = (_month(months), "Back to the month")
        if (months, day) not in events:
            return Page(f"Calendar: {name}", f"There are no events on {name}.", [month], lang="en")
        there = own.get((months, day))
        text = prose.title(f"{host} {months} {day}") if there else prose.text(f"{host} {months} {day}")
        return Page(prose.title(f"{host} {months} {day}"), text, [month, *([there] if there else [])], lang="en")

    titles = [prose.title(f"{host} {months} {day}") for months, day in events]
    return Trap(
        Site(host, ComputedPages(compute)), frozenset([*titles, *(prose.title(host + path) for path in own.values())])
    )


def visit_maze(host: str, articles: int = 40) -> Trap:
    """Some articles, to which every link carries another number of a visit, whose name no list of session ids has."""

    def compute(path: str) -> Page | None:
        match = _ARTICLE.fullmatch(path)
        number = int(match[1]) if match else 0
        if number >= articles or not (match or path == "/"):
            return None
        others = dict.fromkeys([(number + 1) % articles, *prose.draw(f"{host} {number}", 5, articles)])
        links = [(_visit(f"{host}{path}", other), _article(host, other)) for other in others]
        return Page(_article(host, number), prose.text(f"{host} {number}"), links, lang="en")

    return Trap(Site(host, ComputedPages(compute)), frozenset(_article(host, number) for number in range(articles)))


def faceted_shop(host: str) -> Trap:
    """A list of things that can be narrowed and sorted in every combination; only its own pages lead to all of them."""

    def compute(path: str) -> Page | None:
        if path == "/":
            return Page("Shop", prose.text(host), ["/list"], lang="en")
        if (match := _ITEM.fullmatch(path)) and int(match[1]) < _ITEMS:
            return Page(_thing(host, int(match[1])), prose.text(f"{host} {match[1]}"), ["/list"], lang="en")
        where, _, query = path.partition("?")
        if where != "/list":
            return None
        chosen = dict(parse_qsl(query))
        page = int(chosen.pop("page", "1"))
        things = [number for number in range(_ITEMS) if _fits(number, chosen)]
        things.sort(key=lambda number: prose.draw(f"{chosen.get('sort')} {number}", 1))
        shown = things[(page - 1) * _ON_A_LIST : page * _ON_A_LIST]
        links = [(f"/item/{number}", _thing(host, number)) for number in shown]
        links += [(_list(chosen | {name: value}), value) for name, values in _FACETS.items() for value in values]
        if page * _ON_A_LIST < len(things):
            links.append((_list(chosen | {"page": str(page + 1)}), "more"))
        return Page(f"Shop: {' '.join(chosen.values()) or 'everything'}", "Choose below.", links, lang="en")

    return Trap(Site(host, ComputedPages(compute)), frozenset(_thing(host, number) for number in range(_ITEMS)))


def _fits(number: int, chosen: dict[str, str]) -> bool:
    return all(
        name not in chosen or _FACETS[name][(number * factor + 1) % len(_FACETS[name])] == chosen[name]
        for name, factor in (("brand", 1), ("colour", 3), ("size", 7))
    )


def _list(chosen: dict[str, str]) -> str:
    return f"/list?{urlencode(sorted(chosen.items()))}"


def _month(months: int) -> str:
    return f"/calendar/{months // 12:04}/{months % 12 + 1:02}"


def _visit(key: str, number: int) -> str:
    first, second = prose.draw(f"visit {key} {number}", 2, 1 << 32)
    return f"/article/{number}?visit={first:08x}{second:08x}"


def _article(host: str, number: int) -> str:
    return prose.title(f"{host} article {number}")


def _thing(host: str, number: int) -> str:
    return prose.title(f"{host} thing {number}")

"""Prepares the row of tabs below the search box, each with its number of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from periplus.model import FacetCounts
from periplus.web.engine_port import Engine
from periplus.web.parameters import SearchParameters

WEB = ""  # the value of `tab` for all pages
KINDS = {"images": "image", "videos": "video"}  # the kind of media by the value of `tab`
_TITLES = {WEB: "Web", "images": "Images", "videos": "Videos", "news": "News", "pdf": "PDF"}


class Count(NamedTuple):
    """The number of results of one tab."""

    number: int
    is_exact: bool = True


class Tab(NamedTuple):
    """One link of the row."""

    title: str
    link: str
    results: str  # their number, such as 1,234; with a sign when it is not exact
    is_current: bool
    is_empty: bool


def on_tab(parameters: SearchParameters, tab: str) -> SearchParameters:
    """The first page of this search on a tab; PDF is a type, so the filter by type is left out there."""
    return replace(parameters, page=1, tab=tab, type="" if tab != parameters.tab else parameters.type)


def tabs(parameters: SearchParameters, counts: Mapping[str, Count]) -> list[Tab]:
    """The row of tabs; *counts* by the value of `tab`."""
    return [_tab(parameters, tab, title, counts[tab]) for tab, title in _TITLES.items()]


def _tab(parameters: SearchParameters, tab: str, title: str, count: Count) -> Tab:
    sign = "" if count.is_exact or not count.number else "~"
    link = on_tab(parameters, tab).link()
    return Tab(title, link, f"{sign}{count.number:,}", is_current=tab == parameters.tab, is_empty=not count.number)


def count_tabs(
    engine: Engine, parameters: SearchParameters, known: Count, facets: FacetCounts | None = None
) -> dict[str, Count]:
    """Runs in a thread: the number of results of every tab.

    *known*: that of the current tab. *facets*: those of the current search, which count PDFs without another search.
    """
    counts = {parameters.tab: known}
    if facets is not None and not parameters.tab and not parameters.type:
        counts["pdf"] = Count(dict(facets.types).get("pdf", 0))
    return {tab: counts.get(tab) or _counted(engine, on_tab(parameters, tab)) for tab in _TITLES}


def _counted(engine: Engine, parameters: SearchParameters) -> Count:
    text, mode = parameters.search_text, parameters.mode
    if parameters.tab in KINDS:
        return Count(engine.count_media(text, KINDS[parameters.tab], mode=mode), is_exact=False)
    if parameters.tab == "news":
        return Count(engine.count_news(text, mode=mode))
    return Count(engine.count(text, mode=mode))

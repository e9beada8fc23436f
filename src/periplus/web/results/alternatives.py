"""Finds similar searches when a search has no result: only searches that find something, with their counts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from periplus.model import Results
from periplus.site.site_rules import NO_RULES
from periplus.web.parameters import SearchParameters

_MOST_SHOWN = 4
_MOST_WORDS = 6  # a longer query is not tried without each of its words
_OPERATOR = re.compile(r"(?<!\S)(?:-\S+|[a-z]+:\S+|AND|OR|NOT)(?!\S)|[\"()]")


class Alternative(NamedTuple):
    """A similar search."""

    label: str  # how it differs; empty when the query says it
    query: str
    link: str
    pages: int


def alternatives(parameters: SearchParameters, found: Results, count: Callable[[str, str], int]) -> list[Alternative]:
    """The similar searches that find pages; *count* gives the number of results of a query and a mode."""
    shown: dict[str, Alternative] = {}
    for label, other in _similar(parameters, found):
        link = other.link()
        if link not in shown and other.query and (results := count(other.search_text, other.mode)):
            shown[link] = Alternative(label, other.query, link, results)
        if len(shown) == _MOST_SHOWN:
            break
    return list(shown.values())


def _similar(parameters: SearchParameters, found: Results) -> Iterator[tuple[str, SearchParameters]]:
    """Similar searches, the most similar first."""
    spelled = parameters.without_filters(found.suggestion or found.corrected)
    plain = " ".join(_OPERATOR.sub(" ", parameters.query).split())
    unfiltered = parameters.unfiltered()
    if spelled:
        yield "", replace(parameters, page=1, query=spelled)
    if parameters.filters:
        yield "without filters", unfiltered
    if parameters.sites.hosts("block"):
        yield "with the sites that you block", replace(parameters, page=1, sites=NO_RULES)
    if parameters.mode == "and":
        yield "any of the words", replace(parameters, page=1, mode="auto")
    if plain.split() != parameters.query.split():
        yield "without operators", replace(parameters, page=1, query=plain)
        yield "without operators and filters", replace(unfiltered, query=plain)
    words = plain.split()
    for place in range(len(words) if 1 < len(words) <= _MOST_WORDS else 0):
        yield "", replace(parameters, page=1, query=" ".join(words[:place] + words[place + 1 :]))

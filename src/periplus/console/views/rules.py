"""What decides which URLs are crawled: seeds, sitemaps, scope, robots.txt and learned traps."""

from __future__ import annotations

from typing import Any

from periplus.console.paging import page_of, time_key
from periplus.console.reader import Query, Reader, Sources
from periplus.errors import UsageError
from periplus.inspector.robots_test import AGENT, robots_test
from periplus.inspector.traps import shown, suspected
from periplus.inspector.url_report import STATES
from periplus.model import UrlState
from periplus.url import Canonicalizer

SCOPE_LISTS = ("hosts", "paths")
SCOPE_NUMBERS = ("depth", "pages_per_domain", "hosts_per_domain", "url_length", "path_depth", "path_repeats")
_ROWS = 50


def seeds(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """Seeds and sitemaps, newest first, each with its state."""
    del sources
    given = reader.listings.seeds(_ROWS + 1, time_key(query.get("before", "")))
    maps = reader.listings.sitemaps(_ROWS + 1, time_key(query.get("sitemaps_before", "")))
    seeds_shown, seeds_next = page_of(given, _ROWS, "given")
    maps_shown, maps_next = page_of(maps, _ROWS, "given")
    return {
        "seeds": [_with_state(row) for row in seeds_shown],
        "next": seeds_next,
        "sitemaps": [_with_state(row) for row in maps_shown],
        "sitemaps_next": maps_next,
        "configured": reader.settings.scope.seeds,
    }


def _with_state(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"state": "unknown" if row["state"] is None else STATES[UrlState(row["state"])]}


def scope(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The scope as it is now, and where each value comes from; a link may propose another host or pattern."""
    del sources
    settings, origins = reader.settings.scope, reader.configuration.origins
    names = (*SCOPE_LISTS, *SCOPE_NUMBERS)
    descriptions = type(settings).model_fields
    values: dict[str, Any] = {name: getattr(settings, name) for name in names}
    for name in SCOPE_LISTS:
        if (added := query.get(f"add_{name}", "").strip()) and added not in values[name]:
            values[name] = [*values[name], added]
    return {
        "values": values,
        "origins": {name: origins.get(f"scope.{name}", "default") for name in names},
        "meanings": {name: descriptions[name].description for name in names},
        "seed_hosts_only": not settings.hosts,
    }


def robots(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The decision of a stored robots.txt about a URL."""
    del sources
    url, agent = query.get("url", "").strip(), query.get("agent", "").strip() or AGENT
    if not url:
        return {"url": "", "agent": agent}
    if len(agent) > 100:
        raise UsageError("the name of the crawler is too long", hint="The limit is 100 characters.")
    return robots_test(reader.catalog, Canonicalizer.of(reader.settings.addresses), url, agent)


def traps(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """URL patterns that are suspected to be traps, those with the most skipped URLs first."""
    del sources
    settings = reader.settings.frontier
    if query.get("host"):
        patterns, following = reader.catalog.patterns_of(query["host"]), None
    else:
        patterns = reader.listings.patterns(settings.trap_fetches, _ROWS + 1, *_trap_key(query.get("after", "")))
        last = patterns[_ROWS - 1] if len(patterns) > _ROWS else None
        following = f"{last.saved}:{last.host}:{last.pattern}" if last else None
    return {
        "host": query.get("host", ""),
        "traps": [shown(one) for one in suspected(patterns[:_ROWS], settings)],
        "next": following,
        "is_on": settings.trap_fetches > 0,
    }


def _trap_key(text: str) -> tuple[tuple[int, str, str], ...]:
    saved, _, rest = text.partition(":")
    host, _, pattern = rest.partition(":")
    return ((int(saved), host, pattern),) if saved.isdecimal() else ()

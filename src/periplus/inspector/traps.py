"""Lists the URL patterns that are suspected to be crawler traps."""

from __future__ import annotations

from typing import Any

from periplus.config import Frontier
from periplus.errors import UsageError
from periplus.frontier.traps import limit_of
from periplus.model import Pattern
from periplus.store.catalog.catalog import Catalog


def suspected(patterns: list[Pattern], settings: Frontier) -> list[Pattern]:
    """The patterns that are suspected traps, those with the most skipped URLs first."""
    found = [one for one in patterns if one.score >= limit_of(settings.trap_fetches, one.fetched, one.wasted)]
    return sorted(found, key=lambda one: (-one.saved, one.host, one.pattern))


def trap_report(catalog: Catalog, settings: Frontier, host: str | None) -> dict[str, Any]:
    """The JSON object of `traps`, for one host or for all."""
    patterns = catalog.patterns() if host is None else catalog.patterns_of(host)
    return {"traps": [shown(one) for one in suspected(patterns, settings)]}


def shown(one: Pattern) -> dict[str, Any]:
    """A pattern as a JSON object."""
    figures = {"fetched": one.fetched, "wasted": one.wasted, "refused": one.saved}
    return {"host": one.host, "pattern": one.pattern, **figures}


def to_unlearn(catalog: Catalog, settings: Frontier, host: str, pattern: str | None) -> list[Pattern]:
    """The suspected traps to unlearn; raises `UsageError` when there are none."""
    found = [one for one in suspected(catalog.patterns_of(host), settings) if pattern in (None, one.pattern)]
    if not found:
        what = f"the pattern {pattern}" if pattern else "any pattern"
        raise UsageError(
            f"{what} of {host} is not a suspected trap" if pattern else f"{host} has no suspected trap",
            hint="`periplus traps` lists them.",
        )
    return found

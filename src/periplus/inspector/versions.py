"""Lists the archived versions of a page and its recrawl schedule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from periplus.errors import UsageError
from periplus.frontier.schedule import BOUNDS, RecrawlClass, class_of
from periplus.model import Fetch, Reason, UrlState, Verdict
from periplus.store.archive.archive_lookup import read_version
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection


def versions_of(fetches: Iterable[Fetch]) -> list[dict[str, Any]]:
    """The versions of a page in order: first and last fetch, number of fetches, size and content hash."""
    found: list[dict[str, Any]] = []
    for fetch in fetches:
        if fetch.is_version and fetch.position is not None:
            found.append(
                {
                    "version": len(found) + 1,
                    "first": fetch.at,
                    "last": fetch.at,
                    "visits": 1,
                    "bytes": fetch.size,
                    "content_id": fetch.content_id.hex(),
                }
            )
        elif found and _is_confirmation(fetch):
            found[-1]["last"] = fetch.at
            found[-1]["visits"] += 1
    return found


def _is_confirmation(fetch: Fetch) -> bool:
    return fetch.decision.verdict is Verdict.UNCHANGED or fetch.decision.reason is Reason.SAME_CONTENT


def plan_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """The recrawl interval, class and next fetch of a URL; None before its first fetch."""
    if not row["visited"]:
        return None
    queued = row["state"] == UrlState.QUEUED
    return {
        "visits": row["visits"],
        "last_visit": row["visited"],
        "interval": row["interval"],
        "class": class_of(row["interval"]).value,
        "next_visit": None if queued or row["due"] == float("inf") else row["due"],
    }


def version_body(collection: Collection, catalog: Catalog, url: str, number: int) -> bytes:
    """The archived body of one version of a page."""
    versions = [fetch for fetch in catalog.fetches_of(url) if fetch.is_version]
    if not 1 <= number <= len(versions):
        count = f"it has {len(versions)}" if versions else "it has none"
        raise UsageError(f"{url} has no version {number}", count, "`periplus inspect url URL` lists them.")
    version = versions[number - 1]
    assert version.position is not None  # every version is archived
    response = read_version(collection, url, version.at, version.position)
    if response is None:
        raise UsageError(f"{url} has no version {number} any more", "`periplus prune` has just removed it")
    return response.body


def due_by_class(catalog: Catalog, now: float) -> dict[str, int]:
    """The number of due pages by class, among the first million due pages."""
    found = catalog.due_by_interval(now, BOUNDS)
    return {name.value: found.get(number, 0) for number, name in enumerate(RecrawlClass)}

"""Which errors and refusals are there, how many of each kind, and what can be done about them?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from periplus.console.paging import page_of, time_key
from periplus.console.reader import Query, Reader, Sources
from periplus.model import Reason, UrlState
from periplus.reasons import REASONS
from periplus.store.catalog.listings import Group

_SAMPLES = 5  # of each kind
_ROWS = 50  # of one kind


def errors(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """URLs that failed, by reason and status, with samples; with `reason`, the URLs of one kind."""
    del sources
    groups = reader.listings.outcomes(UrlState.FAILED)
    if query.get("reason"):
        return _of_one_kind(reader, UrlState.FAILED, query, groups)
    return {
        "groups": [
            explained(group)
            | {"samples": reader.listings.urls_with(UrlState.FAILED, (group.reason, group.status), _SAMPLES)}
            for group in groups
        ]
    }


def refusals(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """Links that were refused, and URLs that were refused later, by reason, with samples."""
    del sources
    groups = reader.listings.outcomes(UrlState.REFUSED)
    if query.get("reason"):
        return _of_one_kind(reader, UrlState.REFUSED, query, groups)
    links = reader.listings.refused_links()
    return {
        "links": [
            explained(group) | {"samples": reader.listings.refusal_samples(group.reason, _SAMPLES)} for group in links
        ],
        "groups": [
            explained(group)
            | {"samples": reader.listings.urls_with(UrlState.REFUSED, (group.reason, group.status), _SAMPLES)}
            for group in groups
        ],
    }


def _of_one_kind(reader: Reader, state: UrlState, query: Query, groups: list[Group]) -> dict[str, Any]:
    kind = query["reason"], query.get("status", "")
    count = next((group.count for group in groups if (group.reason, group.status) == kind), 0)
    rows = reader.listings.urls_with(state, kind, _ROWS + 1, time_key(query.get("before", "")))
    shown, following = page_of(rows, _ROWS, "changed")
    return {"kind": explained(Group(*kind, count)), "urls": shown, "next": following}


def explained(group: Group) -> dict[str, Any]:
    """A group with the meaning of its reason, and what the user can do."""
    meaning = remedy = ""
    with suppress(ValueError, KeyError):
        meaning, remedy = REASONS[Reason(group.reason)]
    return asdict(group) | {"meaning": meaning, "remedy": remedy}

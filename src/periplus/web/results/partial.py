"""Says that some parts of the index gave no answer, and keeps such answers out of all caches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from periplus.model import MediaResults, Results
from periplus.web.boxes.boxes import NOT_STORED

_Found = TypeVar("_Found", Results, MediaResults)


def marked(found: _Found, missing: Iterable[int]) -> _Found:
    """The results with all shards that gave no answer to the request: not only the search, but counts and filters."""
    shards = tuple(sorted({*found.missing_shards, *missing}))
    return found if shards == found.missing_shards else replace(found, missing_shards=shards)


def partial_notice(found: Results | MediaResults) -> str:
    """The sentence for the reader; empty when all parts of the index gave an answer."""
    missing = len(found.missing_shards)
    if not missing:
        return ""
    return f"Some pages could not be searched: {missing} of {found.shards} parts of the index did not answer."


def storing_headers(found: Results | MediaResults) -> dict[str, str]:
    """The headers that keep partial results from being stored; none for complete ones."""
    return NOT_STORED if found.missing_shards else {}

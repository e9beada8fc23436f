"""Says that some parts of the index gave no answer, and keeps such answers out of all caches."""

from __future__ import annotations

from periplus.model import MediaResults, Results
from periplus.web.boxes.boxes import NOT_STORED


def partial_notice(found: Results | MediaResults) -> str:
    """The sentence for the reader; empty when all parts of the index gave an answer."""
    missing = len(found.missing_shards)
    if not missing:
        return ""
    return f"Some pages could not be searched: {missing} of {found.shards} parts of the index did not answer."


def storing_headers(found: Results | MediaResults) -> dict[str, str]:
    """The headers that keep partial results from being stored; none for complete ones."""
    return NOT_STORED if found.missing_shards else {}

"""Why does this page rank where it does, as everything known about a URL says it?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from periplus.graph.explain import explain
from periplus.store.collection import Collection
from periplus.store.ranks import open_ranks
from periplus.url import url_id


def rank_of(collection: Collection, url: str) -> dict[str, Any] | None:
    """The rank of a canonical URL, with its reasons; None before the first ranking, or when nothing is known of it."""
    table = open_ranks(collection.ranks)
    found = None if table is None else explain(table, url_id(url))
    if table is None or found is None:
        return None
    return {"generation": table.number, **asdict(found)}

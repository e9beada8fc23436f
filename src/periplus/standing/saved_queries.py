"""The standing queries of a collection, as commands and the site use them: list, save, remove, read the feed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from periplus.search.engine import SearchEngine
from periplus.standing.check import add_standing_query
from periplus.standing.registry import Item, Registry, StandingQuery, has_standing_queries, one_at_a_time
from periplus.store.collection import Collection


class Feed(NamedTuple):
    """A standing query and what it has found, newest first."""

    query: StandingQuery
    items: list[Item]


class SavedQueries:
    """The standing queries of one collection; safe to share between threads."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    def all(self) -> list[StandingQuery]:
        """All standing queries, oldest first."""
        if not has_standing_queries(self._collection):
            return []
        with Registry(self._collection, read_only=True) as registry:
            return registry.queries()

    def feed(self, name: str) -> Feed | None:
        """What the query with this id has found; None when there is no such query."""
        if not has_standing_queries(self._collection):
            return None
        with Registry(self._collection, read_only=True) as registry:
            query = registry.find(name)
            return Feed(query, registry.newest_items(query)) if query else None

    def add(self, engine: SearchEngine, query: str, webhook: str = "") -> StandingQuery:
        """Saves a query; pages that match already are not reported."""
        return add_standing_query(self._collection, engine, query, webhook)

    def forget(self, urls: Iterable[str]) -> int:
        """Removes all that standing queries know about these pages; returns the number of items."""
        if not has_standing_queries(self._collection):
            return 0
        with one_at_a_time(self._collection), Registry(self._collection) as registry:
            return registry.forget(urls)

    def remove(self, name: str) -> StandingQuery | None:
        """Removes the query with this id, with its feed; None when there is no such query."""
        if not has_standing_queries(self._collection):
            return None
        with one_at_a_time(self._collection), Registry(self._collection) as registry:
            found = registry.find(name)
            if found is not None:
                registry.remove(found)
            return found

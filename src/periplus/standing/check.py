"""Saves standing queries, and checks them against a new generation of the index."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

from periplus.config import Settings
from periplus.errors import UsageError
from periplus.search.cache.result_cache import generation_id
from periplus.search.engine import SearchEngine
from periplus.search.interpret import Mode, valid_text
from periplus.search.query.parser import parse_query
from periplus.standing.changed_documents import Changed, CheckedDocuments, Documents, read_documents
from periplus.standing.matching import Context, Match, change_of, matching
from periplus.standing.registry import (
    Item,
    NewQuery,
    PageVersion,
    Registry,
    StandingQuery,
    has_standing_queries,
    one_at_a_time,
)
from periplus.standing.webhooks import deliver_waiting
from periplus.store.collection import Collection
from periplus.url import parse

_MOST_MATCHES = 100_000  # pages that match a query when it is saved: all of them are read then
_LONGEST_QUERY = 1_000  # characters
_LAG = 3_600.0  # seconds from the fetch of a page to the index that has it


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check of all standing queries has done."""

    generation: int  # of the index
    queries: int
    found: dict[str, int]  # by id of a query: new and changed pages
    deliveries: dict[str, str]  # by id of a query: why the delivery failed, or an empty text


def add_standing_query(
    collection: Collection, engine: SearchEngine, query: str, webhook: str = "", now: float | None = None
) -> StandingQuery:
    """Saves a query; pages that match already are not reported. The same query is saved once."""
    text = _valid_query(engine, query)
    webhook = parse(webhook).text if webhook else ""
    with one_at_a_time(collection), Registry(collection) as registry:
        for other in registry.queries():
            if (other.query, other.webhook) == (text, webhook):
                return other
        documents, generation = read_documents(engine.folder), generation_id(engine.folder)
        known = (match.version for match in matching(engine, text, documents.numbers.tolist()))
        new = NewQuery(text, webhook, generation)
        CheckedDocuments(collection.standing_queries.parent).save(documents, generation)
        return registry.add(new, time.time() if now is None else now, known)


def check_standing_queries(
    collection: Collection, settings: Settings, engine: SearchEngine, now: float | None = None
) -> Checked:
    """Reports the pages that are new or changed since the last check, and sends what waits to the webhooks.

    Call it after every new generation of the index; without a new one it only sends what waits. It waits for the
    webhooks, at most `watch.webhook_timeout` for every eight of them. It must not run in an event loop.
    """
    if not has_standing_queries(collection):
        return Checked(engine.generation, 0, {}, {})
    now = time.time() if now is None else now
    with one_at_a_time(collection), Registry(collection) as registry:
        found = _Check(collection, settings, engine, registry).run(now)
        deliveries = deliver_waiting(registry, settings, now)
        return Checked(engine.generation, len(registry.queries()), found, deliveries)


class _Reported(NamedTuple):
    """A page that is reported; the order is that of the fetches."""

    fetched_at: float
    number: int  # of the document
    change: str


class _Check:
    """One check of all standing queries."""

    def __init__(self, collection: Collection, settings: Settings, engine: SearchEngine, registry: Registry) -> None:
        self._engine, self._registry, self._kept = engine, registry, settings.watch.kept_items
        self._generation = generation_id(engine.folder)
        self._files = CheckedDocuments(collection.standing_queries.parent)
        self._changed: dict[str, Changed] = {}  # by the generation of the last check

    def run(self, now: float) -> dict[str, int]:
        """Checks the queries that were not checked with this generation; returns the number of pages found by id."""
        queries = [query for query in self._registry.queries() if query.generation != self._generation]
        if not queries:
            return {}
        documents = read_documents(self._engine.folder)
        found = {query.id: self._check(query, documents, now) for query in queries}
        self._files.save(documents, self._generation)
        self._files.keep_only(query.generation for query in self._registry.queries())
        return {name: count for name, count in found.items() if count}

    def _check(self, query: StandingQuery, documents: Documents, now: float) -> int:
        if query.generation not in self._changed:
            self._changed[query.generation] = self._files.changed(documents, query.generation)
        changed = self._changed[query.generation]
        versions: list[PageVersion] = []
        reported: list[_Reported] = []
        with self._registry.transaction():
            for match in matching(self._engine, query.query, changed.numbers):
                versions.append(match.version)
                if change := self._change(query, match, changed.known_pages):
                    reported.append(_Reported(match.version.fetched_at, match.number, change))
            items = [self._item(query, one, now) for one in sorted(reported)[-self._kept :]]
            self._registry.record_check(query, versions, items, self._kept)
            self._registry.set_checked(query, self._generation, now)
        return len(reported)

    def _change(self, query: StandingQuery, match: Match, indexed: set[int]) -> str:
        context = Context(
            known=self._registry.known_version(query, match.pages),
            knows_text=self._registry.knows_text(query, match.version.text),
            was_indexed=match.number in indexed,
            since=query.created - _LAG,
        )
        return change_of(match.version, context)

    def _item(self, query: StandingQuery, one: _Reported, now: float) -> Item:
        head = self._engine.pages.head(one.number)
        snippet = self._engine.snippet(query.query, one.number)
        return Item(0, one.change, head.url, head.title or head.url, snippet, head.fetched_at, now)


def _valid_query(engine: SearchEngine, query: str) -> str:
    text = " ".join(valid_text(query).split())
    if len(text) > _LONGEST_QUERY:
        raise UsageError(f"the query has {len(text):,} characters", f"the limit is {_LONGEST_QUERY:,}")
    if parse_query(text).root is None or not any(character.isalnum() for character in text):
        raise UsageError("the query has no word to search for", hint="Add a word, or an operator such as site:.")
    if (pages := engine.count(text, mode=Mode.AND)) > _MOST_MATCHES:
        raise UsageError(
            f"{pages:,} pages match this query",
            f"a standing query may match at most {_MOST_MATCHES:,}",
            "Add a word, or an operator such as site:.",
        )
    return text

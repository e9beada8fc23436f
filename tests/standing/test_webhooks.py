"""A webhook gets everything that its query has found, at least once and in order, also after failures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.config import Settings
from periplus.standing.registry import Item, NewQuery, Registry, StandingQuery, one_at_a_time
from periplus.standing.webhooks import deliver_waiting, wait_seconds
from periplus.store.collection import create_collection
from search.library import settings
from standing.receiver import Receiver, receiving

ALLOWED = settings(watch__private_addresses=["127.0.0.1/32"])
NOW = 1_000_000.0


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as served:
        yield served


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    collection = create_collection(tmp_path)
    with one_at_a_time(collection), Registry(collection) as opened:
        yield opened


def saved(registry: Registry, receiver: Receiver, count: int = 1, title: str = "Harbour") -> StandingQuery:
    query = registry.add(NewQuery("harbour", receiver.url, "g"), NOW, [])
    find(registry, query, count, title)
    return query


def find(registry: Registry, query: StandingQuery, count: int, title: str = "Harbour") -> None:
    found = [Item(0, "new", f"http://a.test/{number}", title, "a snippet", 5.0, NOW) for number in range(count)]
    with registry.transaction():
        registry.record_check(query, [], found, 200)


def only(registry: Registry) -> StandingQuery:
    (query,) = registry.queries()
    return query


def test_the_message_names_query_and_items(registry: Registry, receiver: Receiver) -> None:
    query = saved(registry, receiver)
    assert deliver_waiting(registry, ALLOWED, NOW) == {query.id: ""}
    (message,) = receiver.messages
    item = {"change": "new", "url": "http://a.test/0", "title": "Harbour", "snippet": "a snippet"}
    times = {"fetched_at": 5.0, "found_at": NOW}
    assert message == {"id": query.id, "query": "harbour", "items": [{"id": f"{query.id}-1", **item, **times}]}
    assert deliver_waiting(registry, ALLOWED, NOW) == {}
    assert only(registry).waiting == 0


def test_items_wait_while_the_webhook_fails_and_keep_their_ids(registry: Registry, receiver: Receiver) -> None:
    query = saved(registry, receiver)
    receiver.status = 500
    assert deliver_waiting(registry, ALLOWED, NOW) == {query.id: "status 500"}
    found = only(registry)
    assert (found.failures, found.failure, found.waiting, found.next_attempt) == (1, "status 500", 1, NOW + 60)
    assert deliver_waiting(registry, ALLOWED, NOW + 59) == {}
    find(registry, query, 1)
    receiver.status = 200
    assert deliver_waiting(registry, ALLOWED, NOW + 60) == {query.id: ""}
    assert [item["id"] for item in receiver.items] == [f"{query.id}-{number}" for number in (1, 1, 2)]
    assert (only(registry).failures, only(registry).failure, only(registry).waiting) == (0, "", 0)


def test_the_waits_double_up_to_six_hours() -> None:
    assert [wait_seconds(failures) for failures in (1, 2, 3, 9, 10, 1_000)] == [60, 120, 240, 15_360, 21_600, 21_600]


def test_many_items_take_several_messages(registry: Registry, receiver: Receiver) -> None:
    query = saved(registry, receiver, 120)
    for waiting in (70, 20, 0):
        deliver_waiting(registry, ALLOWED, NOW)
        assert only(registry).waiting == waiting
    assert [item["id"] for item in receiver.items] == [f"{query.id}-{number}" for number in range(1, 121)]


def test_a_message_stays_below_the_limit(registry: Registry, receiver: Receiver) -> None:
    query = registry.add(NewQuery("harbour", receiver.url, "g"), NOW, [])
    large = [Item(0, "new", f"http://a.test/{number}", "x" * 9_999, "\x01" * 9_000, 5.0, NOW) for number in range(12)]
    with registry.transaction():
        registry.record_check(query, [], large, 200)
    while only(registry).waiting:
        assert deliver_waiting(registry, ALLOWED, NOW) == {query.id: ""}
    assert len(receiver.items) == 12
    assert len(receiver.messages) > 1
    assert {len(item["title"]) for item in receiver.items} == {300}


def test_a_private_webhook_is_refused_and_the_reason_is_kept(registry: Registry, receiver: Receiver) -> None:
    saved(registry, receiver)
    deliver_waiting(registry, Settings(), NOW)
    assert receiver.requests == []
    assert "watch.private_addresses" in only(registry).failure


def test_a_query_without_a_webhook_sends_nothing(registry: Registry) -> None:
    query = registry.add(NewQuery("harbour", "", "g"), NOW, [])
    find(registry, query, 3)
    assert deliver_waiting(registry, ALLOWED, NOW) == {}
    assert (only(registry).items, only(registry).waiting) == (3, 0)

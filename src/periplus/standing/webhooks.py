"""Sends what standing queries have found to their webhooks, again and again until a webhook takes it.

A message has the oldest items that the webhook has not taken. A webhook may get an item twice, when its answer is lost;
the id of the item is the same then. After a failure the next attempt waits, twice as long each time.
"""

from __future__ import annotations

from typing import Any

import orjson

from periplus.config import Settings
from periplus.fetch.webhook import LARGEST, Delivery, deliver_all
from periplus.standing.registry import Item, Registry, StandingQuery

_MOST_ITEMS = 50  # in one message
_FIRST_WAIT = 60.0  # seconds after a failure
_LONGEST_WAIT = 6 * 3_600.0
_LONGEST_TITLE = 300  # characters


def deliver_waiting(registry: Registry, settings: Settings, now: float) -> dict[str, str]:
    """Sends one message to every webhook that has items waiting and is not waiting for its next attempt.

    Returns by id of the query why its delivery failed, or an empty text.
    """
    due = [query for query in registry.queries() if query.waiting and query.next_attempt <= now]
    messages = [_message(query, registry.waiting_items(query, _MOST_ITEMS)) for query in due]
    deliveries = [Delivery(query.webhook, body) for query, (body, _) in zip(due, messages, strict=True)]
    if not due:
        return {}
    failures = deliver_all(deliveries, settings.watch, settings.identity.contact)
    for query, (_, last), failure in zip(due, messages, failures, strict=True):
        if failure:
            registry.set_failed(query, failure, now + wait_seconds(query.failures + 1))
        else:
            registry.set_delivered(query, last)
    return {query.id: failure for query, failure in zip(due, failures, strict=True)}


def wait_seconds(failures: int) -> float:
    """Seconds until the next attempt after so many failures in a row."""
    return float(min(_FIRST_WAIT * 2 ** min(failures - 1, 20), _LONGEST_WAIT))


def _message(query: StandingQuery, items: list[Item]) -> tuple[bytes, int]:
    """The message with as many of the items as fit, and the number of the last one."""
    while True:
        content = {"id": query.id, "query": query.query, "items": [_described(query, item) for item in items]}
        body = orjson.dumps(content)
        if len(body) <= LARGEST or len(items) == 1:
            return body, items[-1].number
        items = items[: len(items) // 2]


def _described(query: StandingQuery, item: Item) -> dict[str, Any]:
    return {
        "id": f"{query.id}-{item.number}",
        "change": item.change,
        "url": item.url,
        "title": item.title[:_LONGEST_TITLE],
        "snippet": item.snippet,
        "fetched_at": item.fetched_at,
        "found_at": item.found_at,
    }

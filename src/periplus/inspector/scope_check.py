"""What would another scope do to the queue? Answers without reading millions of URLs.

The rule about hosts is applied to every host with queued URLs, whose number is stored. The other rules are applied to
URLs at the head of the queues of some hosts. A short queue is checked completely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from periplus.frontier.scope import ScopeRules
from periplus.store.catalog.queries import Queries

CHECKED_URLS = 10_000
_CHECKED_HOSTS = 500
_SAMPLES = 5  # URLs shown for each reason


def check_scope(catalog: Queries, rules: ScopeRules) -> dict[str, Any]:
    """The number of queued URLs that the rules refuse: exact by host, and of some checked URLs by the other rules."""
    hosts = catalog.queued_hosts()
    refused_hosts = {host: count for host, count in hosts if not rules.covers_host(host)}
    kept = [(host, count) for host, count in hosts if host not in refused_hosts]
    refused: Counter[str] = Counter()
    samples: dict[str, list[str]] = {}
    checked = 0
    for url, host, depth in _sample(catalog, kept):
        checked += 1
        refusal = rules.refusal(url, host, depth)
        if refusal is not None:
            refused[refusal.reason.value] += 1
            shown = samples.setdefault(refusal.reason.value, [])
            shown += [url] if len(shown) < _SAMPLES else []
    largest = sorted(refused_hosts.items(), key=lambda one: (-one[1], one[0]))[:_SAMPLES]
    in_scope = sum(count for _, count in kept)
    return {
        "queued": sum(count for _, count in hosts),
        "refused_hosts": len(refused_hosts),
        "refused_by_host": sum(refused_hosts.values()),
        "largest_refused_hosts": [{"host": host, "queued": count} for host, count in largest],
        "in_scope_by_host": in_scope,
        "checked": checked,
        "is_complete": checked >= in_scope,
        "refused": dict(refused.most_common()),
        "samples": samples,
    }


def _sample(catalog: Queries, hosts: list[tuple[str, int]]) -> Iterator[tuple[str, str, int]]:
    """URLs of the queues of some hosts, evenly chosen, with host and depth."""
    chosen = hosts[:: max(1, -(-len(hosts) // _CHECKED_HOSTS))]
    each, room = max(1, CHECKED_URLS // max(1, len(chosen))), CHECKED_URLS
    if sum(count for _, count in hosts) <= CHECKED_URLS:
        each, chosen = CHECKED_URLS, hosts
    for host, _ in chosen:
        for url, depth in catalog.head_of_queue(host, min(each, room)):
            room -= 1
            yield url, host, depth

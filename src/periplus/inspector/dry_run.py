"""What would a crawl with these settings fetch? Answers from the catalog, without a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from periplus.config import Settings
from periplus.errors import NoCollection
from periplus.fetch.request import user_agent
from periplus.frontier.scope import ScopeRules
from periplus.store.block_list import NOTHING_BLOCKED, BlockList
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import open_collection
from periplus.url import Canonicalizer, host_of, parse

CHECKED = 100_000  # queued URLs whose scope is checked
_SAMPLES = 5  # URLs shown for each reason of a refusal


def dry_run(home: Path, settings: Settings, seeds: Sequence[str], sitemaps: Sequence[str]) -> dict[str, Any]:
    """The decision about every seed, and how much of the queue is in scope; the keys of `crawl --dry-run --json`."""
    canonicalizer = Canonicalizer.of(settings.addresses)
    earlier, queue, queued, blocked, forgotten = _collection(home)
    configured = (parse(url, canonicalizer).text for url in settings.scope.seeds)
    named = [parse(url, canonicalizer).text for url in seeds]
    named += [url for url in configured if url not in {*earlier, *named}]
    rules = ScopeRules(settings.scope, map(host_of, [*earlier, *named]), blocked, forgotten)
    return {
        "user_agent": user_agent(settings.identity.contact),
        "delay": settings.politeness.delay,
        "scope_hosts": settings.scope.hosts or sorted({host_of(url) for url in [*earlier, *named]}),
        "seeds": [_decision(rules, url) for url in named],
        "sitemaps": [parse(url, canonicalizer).text for url in sitemaps],
        "queued": queued,
        "queue": queue_in_scope(rules, queue),
        "warnings": [] if settings.identity.contact else ["identity.contact is not set: only private addresses."],
    }


def queue_in_scope(rules: ScopeRules, queue: Iterable[tuple[str, str, int]]) -> dict[str, Any]:
    """How many URLs of a queue the rules admit and refuse, with samples; *queue*: URL, host and depth."""
    refused: Counter[str] = Counter()
    samples: dict[str, list[str]] = {}
    admitted = 0
    for url, host, depth in queue:
        refusal = rules.refusal(url, host, depth)
        if refusal is None:
            admitted += 1
            continue
        refused[refusal.reason.value] += 1
        shown = samples.setdefault(refusal.reason.value, [])
        if len(shown) < _SAMPLES:
            shown.append(url)
    return {"checked": admitted + refused.total(), "admitted": admitted, "refused": dict(refused), "samples": samples}


def _collection(home: Path) -> tuple[list[str], list[tuple[str, str, int]], int, list[str], BlockList]:
    """Seeds, first URLs and length of the queue, blocked hosts and block list; empty without a collection."""
    try:
        catalog = open_catalog(open_collection(home), Queries, read_only=True)
    except NoCollection:
        return [], [], 0, [], NOTHING_BLOCKED
    with closing(catalog):
        queued, blocked = catalog.counters()["queued"], [*catalog.blocked_hosts()]
        return catalog.seeds(), catalog.queue(CHECKED), queued, blocked, catalog.block_list()


def _decision(rules: ScopeRules, url: str) -> dict[str, Any]:
    refusal = rules.refusal(url, host_of(url), depth=0)
    if refusal is None:
        return {"url": url, "admitted": True, "reason": "seed", "detail": ""}
    return {"url": url, "admitted": False, "reason": refusal.reason.value, "detail": refusal.detail}

"""The interface of a frontier store, and an implementation in memory.

`FrontierStore` is what the crawl needs to store queues and history. `MemoryStore` implements it with dictionaries; the
same tests run against every implementation.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from periplus.model import Fetch, HostPolicy, QueuedUrl, RobotsFile, UrlState, Verdict
from periplus.store.catalog.batch import ArchiveFile, Batch, Revisit, Settled, SitemapNotice, Written
from periplus.url import host_of, registrable_domain


class FrontierStore(Protocol):
    """Queues and history; `commit` acknowledges a batch, and all other methods read acknowledged data."""

    def commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int: ...
    def requeue(self, urls: Iterable[str], *, done_too: bool = False) -> None: ...
    def waiting_hosts(self) -> list[HostPolicy]: ...
    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]: ...
    def next_due(self, host: str, now: float) -> float | None: ...
    def due_again(self, until: float, after: tuple[float, float, str], limit: int) -> list[Revisit]: ...
    def next_due_again(self, after: float) -> float | None: ...
    def known_urls(self) -> Iterator[str]: ...
    def domain_sizes(self) -> dict[str, int]: ...
    def policy(self, host: str) -> HostPolicy | None: ...
    def robots(self, origin: str) -> RobotsFile | None: ...
    def seeds(self) -> list[str]: ...
    def archives(self, worker: int | None = None) -> list[ArchiveFile]: ...
    def fetches_of(self, text: str) -> list[Fetch]: ...
    def refusals(self) -> dict[str, int]: ...
    def counters(self) -> dict[str, int]: ...
    def close(self) -> None: ...


@dataclass
class _Contents:
    urls: dict[str, tuple[QueuedUrl, UrlState]] = field(default_factory=dict)
    hosts: dict[str, HostPolicy] = field(default_factory=dict)
    fetches: list[Fetch] = field(default_factory=list)
    robots: dict[str, RobotsFile] = field(default_factory=dict)
    seeds: dict[str, None] = field(default_factory=dict)
    archives: dict[str, tuple[int, ArchiveFile]] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)


class MemoryStore:
    """A frontier store in memory; a batch is applied to a copy, so commits are atomic."""

    def __init__(self) -> None:
        self._contents = _Contents()

    def close(self) -> None:
        pass

    def commit(self, batch: Batch, written: Written, run_id: int, summary: dict[str, Any]) -> int:
        contents = copy.deepcopy(self._contents)
        known = contents.archives.get(written.name)
        number = known[1].archive_id if known else len(contents.archives) + 1
        contents.archives[written.name] = written.worker, ArchiveFile(number, written.name, written.size, 0)
        for item in batch.admitted:
            contents.urls.setdefault(item.url, (item, UrlState.QUEUED))
            contents.hosts.setdefault(item.host, HostPolicy(item.host, None))
        for item, state in batch.revisits:
            _ask_again(contents, item, state)
        for settled in batch.settled:
            _settle(contents, settled)
        for notice in batch.notices:
            _notice(contents, notice)
        contents.seeds.update(dict.fromkeys(batch.seeds))
        for (_, reason), count in batch.refused.items():
            contents.refused[reason.value] += count
        contents.hosts.update(batch.policies)
        contents.robots.update({file.origin: file for file in batch.robots})
        for host in batch.retried:
            _retry(contents, host)
        self._contents = contents
        return number

    def requeue(self, urls: Iterable[str], *, done_too: bool = False) -> None:
        for url in urls:
            item, state = self._contents.urls.get(url, (None, UrlState.QUEUED))
            if item is not None and state in (UrlState.FAILED, UrlState.REFUSED, UrlState.DONE)[: 2 + done_too]:
                visits = max(item.visits, int(state is UrlState.DONE))
                self._contents.urls[url] = item._replace(attempts=0, due=0.0, visits=visits), UrlState.QUEUED

    def waiting_hosts(self) -> list[HostPolicy]:
        hosts = {item.host for item, state in self._contents.urls.values() if state is UrlState.QUEUED}
        return [self._contents.hosts[host] for host in hosts]

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        queue = [item for item in self._queue(host) if item.due <= now]
        return sorted(queue, key=lambda item: (item.priority, item.due))[:limit]

    def next_due(self, host: str, now: float) -> float | None:
        return min((item.due for item in self._queue(host) if now < item.due < math.inf), default=None)

    def _queue(self, host: str) -> list[QueuedUrl]:
        rows = self._contents.urls.values()
        return [item for item, state in rows if item.host == host and state is UrlState.QUEUED]

    def due_again(self, until: float, after: tuple[float, float, str], limit: int) -> list[Revisit]:
        rows = [(item.due, item.interval, item.url) for item in self._resting() if item.due <= until]
        return [self._revisit(url) for due, interval, url in sorted(rows) if (due, interval, url) > after][:limit]

    def next_due_again(self, after: float) -> float | None:
        return min((item.due for item in self._resting() if after < item.due < math.inf), default=None)

    def _resting(self) -> list[QueuedUrl]:
        return [item for item, state in self._contents.urls.values() if state is not UrlState.QUEUED]

    def _revisit(self, url: str) -> Revisit:
        item, state = self._contents.urls[url]
        return Revisit(item._replace(visits=max(item.visits, int(state is UrlState.DONE))), state)

    def known_urls(self) -> Iterator[str]:
        return iter(self._contents.urls)

    def domain_sizes(self) -> dict[str, int]:
        return dict(Counter(registrable_domain(host_of(url)) for url in self._contents.urls))

    def policy(self, host: str) -> HostPolicy | None:
        return self._contents.hosts.get(host)

    def robots(self, origin: str) -> RobotsFile | None:
        return self._contents.robots.get(origin)

    def seeds(self) -> list[str]:
        return list(self._contents.seeds)

    def archives(self, worker: int | None = None) -> list[ArchiveFile]:
        return [file for owner, file in self._contents.archives.values() if worker in (None, owner)]

    def fetches_of(self, text: str) -> list[Fetch]:
        return [fetch for fetch in self._contents.fetches if fetch.url == text]

    def refusals(self) -> dict[str, int]:
        return dict(self._contents.refused)

    def counters(self) -> dict[str, int]:
        states = Counter(state for _, state in self._contents.urls.values())
        kept = [fetch for fetch in self._contents.fetches if fetch.decision.verdict is Verdict.FETCHED]
        by_state = {state.name.lower(): states[state] for state in UrlState}
        return {"known": states.total(), **by_state, "fetched": len(kept), "bytes": sum(fetch.size for fetch in kept)}


def _settle(contents: _Contents, settled: Settled) -> None:
    before, _ = contents.urls[settled.item.url]
    item = settled.item
    again = item._replace(depth=before.depth, reason=before.reason, via=before.via, redirects=before.redirects)
    contents.urls[settled.item.url] = again, settled.state
    if settled.fetch is not None:
        contents.fetches.append(settled.fetch)


def _retry(contents: _Contents, host: str) -> None:
    for url, (item, state) in contents.urls.items():
        waits = state is UrlState.QUEUED and item.due < math.inf
        if item.host == host and (waits or state is UrlState.FAILED):
            contents.urls[url] = item._replace(attempts=0, due=0.0), UrlState.QUEUED
    if (policy := contents.hosts.get(host)) is not None:
        contents.hosts[host] = replace(policy, failures=0, why="")


def _ask_again(contents: _Contents, item: QueuedUrl, state: UrlState) -> None:
    before, stands = contents.urls[item.url]
    if stands is state:
        again = before._replace(priority=item.priority, visits=item.visits, attempts=0, due=0.0)
        contents.urls[item.url] = again, UrlState.QUEUED


def _notice(contents: _Contents, notice: SitemapNotice) -> None:
    item, state = contents.urls.get(notice.url, (None, UrlState.QUEUED))
    if item is None or state is not UrlState.DONE:
        return
    if item.visited < notice.changed:
        item = item._replace(due=min(item.due, notice.changed))
    elif item.visited >= notice.settled:
        rest = min(notice.patience * item.interval, notice.longest)
        item = item._replace(due=max(item.due, item.visited + rest))
    contents.urls[notice.url] = item, state

"""Collects what happened since the last commit, and converts records to database rows and back.

All parts of a worker write into one `Batch`; a group commit acknowledges it in one transaction.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import add
from typing import Any, NamedTuple

from periplus.model import (
    ArchivePosition,
    Copy,
    CrawlQuality,
    Decision,
    Fetch,
    HostPolicy,
    Pattern,
    QueuedUrl,
    Reason,
    RobotsFile,
    UrlState,
    Verdict,
)
from periplus.store.catalog.live_state import Publication
from periplus.store.manifest import PageRow
from periplus.url import url_key


class Settled(NamedTuple):
    """The result for a queued URL: the attempt, if one was made, and the new state of the URL."""

    item: QueuedUrl  # with the new due time, priority and attempts if it stays queued
    state: UrlState
    decision: Decision
    fetch: Fetch | None = None


class Refusal(NamedTuple):
    """A link that a rule of the crawl refused."""

    host: str
    url: str
    decision: Decision
    via: str


class ForwardedUrl(NamedTuple):
    """A link into a domain that another worker owns."""

    share: int  # the share of the web that contains the domain
    url: str
    depth: int
    reason: Reason
    via: str
    redirects: int


class Revisit(NamedTuple):
    """A URL that is due for a recrawl."""

    item: QueuedUrl
    state: UrlState  # the state before the recrawl


class SitemapNotice(NamedTuple):
    """The modification date of a known page in a sitemap; all times in seconds."""

    changed: float  # when the page was changed
    settled: float  # no change since this time
    patience: float  # intervals until the next visit, if the page was fetched since `settled`
    longest: float  # maximum seconds until the next visit
    url: str


class Written(NamedTuple):
    """The archive file of a batch, and its size after the batch is written."""

    worker: int
    name: str
    size: int
    waits: bool = False  # for its upload; other nodes read it after that


class ArchiveFile(NamedTuple):
    """One archive file: how many bytes are acknowledged (committed), and how many are in segments (sealed)."""

    archive_id: int
    name: str
    committed: int
    sealed: int


@dataclass(slots=True)
class Batch:
    """Everything that one group commit acknowledges."""

    settled: list[Settled] = field(default_factory=list)
    versions: list[Fetch] = field(default_factory=list)  # further versions of URLs whose state does not change
    admitted: list[QueuedUrl] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    refused: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    samples: list[Refusal] = field(default_factory=list)
    policies: dict[str, HostPolicy] = field(default_factory=dict)
    robots: list[RobotsFile] = field(default_factory=list)
    forwarded: list[ForwardedUrl] = field(default_factory=list)
    entered: list[Settled] = field(default_factory=list)  # visits to entry URLs, which are in no queue
    received: list[int] = field(default_factory=list)  # ids of forwarded URLs that this batch handles
    revisits: list[Revisit] = field(default_factory=list)
    notices: list[SitemapNotice] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)  # URL patterns with changed counts
    harmless: list[tuple[str, str]] = field(default_factory=list)  # hosts and patterns: their refused URLs are requeued
    qualities: dict[str, list[float]] = field(default_factory=dict)  # by host: pages, and the sums of their features
    copies: list[Copy] = field(default_factory=list)  # near-duplicates among its pages
    imported: list[str] = field(default_factory=list)  # imported URLs that the scope refuses
    blocks: list[str] = field(default_factory=list)  # hosts that the user has blocked or unblocked
    retried: list[str] = field(default_factory=list)  # hosts whose errors the user wants forgotten
    publication: Publication | None = None  # what the worker reports about itself; no reason to commit

    def add_quality(self, host: str, quality: CrawlQuality) -> None:
        """Add the quality of a page to that of its host."""
        sums = self.qualities.get(host)
        self.qualities[host] = [1, *quality] if sums is None else list(map(add, sums, (1, *quality)))

    def __bool__(self) -> bool:
        return any(
            (
                self.settled,
                self.versions,
                self.admitted,
                self.seeds,
                self.refused,
                self.policies,
                self.robots,
                self.forwarded,
                self.entered,
                self.received,
                self.revisits,
                self.notices,
                self.patterns,
                self.harmless,
                self.imported,
                self.blocks,
                self.retried,
            )
        )


def admission_row(item: QueuedUrl) -> tuple[Any, ...]:
    """The first values of `admit`; the host id and the time follow."""
    return item.url, item.depth, item.priority, item.due, item.reason, item.via, item.redirects


def queued_from_row(host: str, row: tuple[Any, ...]) -> QueuedUrl:
    """Build the record from a row of `queue_of_host`."""
    url, depth, priority, admitted, *rest = row
    return QueuedUrl(url, host, depth, priority, Reason(admitted), *rest)


def settled_row(entry: Settled, now: float) -> tuple[Any, ...]:
    """The values of `settle`."""
    item, state, decision, _ = entry
    plan = item.attempts, item.due, item.priority, item.visits, item.interval, item.evidence, item.visited
    return state, decision.reason, decision.detail, *plan, now, item.url


def revisit_row(revisit: Revisit) -> tuple[Any, ...]:
    """The values of `revisit`."""
    item, state = revisit
    return item.priority, item.visits, item.url, state


def revisit_from_row(row: tuple[Any, ...]) -> Revisit:
    """Build the record from a row of `due_again`."""
    url, host, state, depth, priority, admitted, via, redirects, due, visits, *plan = row
    visits = max(visits, state == UrlState.DONE)  # earlier releases did not count visits
    item = QueuedUrl(url, host, depth, priority, Reason(admitted), via, redirects, 0, due, visits, *plan)
    return Revisit(item, UrlState(state))


def refused_by_reason(batch: Batch) -> Counter[Reason]:
    """The number of refused links of a batch, by reason."""
    found: Counter[Reason] = Counter()
    for (_, reason), count in batch.refused.items():
        found[reason] += count
    return found


def refusal_row(refusal: Refusal) -> tuple[Any, ...]:
    """The values of `add_refusal_sample`."""
    return refusal.host, refusal.decision.reason, refusal.url, refusal.decision.detail, refusal.via


def policy_row(policy: HostPolicy) -> tuple[Any, ...]:
    """The first values of `set_policy`; the host id follows."""
    return policy.delay, policy.why, policy.next_fetch, policy.failures


def robots_row(robots: RobotsFile) -> tuple[Any, ...]:
    """The values of `set_robots`."""
    return robots.origin, robots.fetched_at, robots.status, robots.body


def fetch_row(fetch: Fetch, run_id: int, archive_id: int) -> tuple[Any, ...]:
    """The values of `add_fetch`."""
    position = fetch.position
    where = (archive_id, position.offset, position.length) if position else (None, None, None)
    return (
        run_id,
        signed(url_key(fetch.url)),
        fetch.url,
        fetch.at,
        fetch.status,
        fetch.decision.verdict,
        fetch.decision.reason,
        fetch.decision.detail,
        fetch.mime,
        fetch.size,
        fetch.content_id or None,
        *where,
        fetch.redirect_to,
        fetch.etag,
        fetch.last_modified,
        fetch.seconds,
    )


def fetch_from_row(row: tuple[Any, ...]) -> Fetch:
    """Build the record from a row of `fetches_of_url` or `fetches_of_archive`."""
    url, at, status, verdict, reason, detail, mime, size, content_id, name, offset, length, *rest = row
    position = ArchivePosition(name, offset, length) if name is not None else None
    decision = Decision(Verdict(verdict), Reason(reason), detail)
    return Fetch(url, at, status, decision, mime, size, content_id or b"", position, *rest)


def content_row(fetch: Fetch) -> tuple[Any, ...]:
    """The values of `set_exact_copy`; `add_content` takes all but the last."""
    return fetch.content_id[:16], signed(url_key(fetch.url)), fetch.url


def signed(key: int) -> int:
    """Convert an unsigned 64-bit number to the signed one that SQLite stores."""
    return key - (1 << 64) if key >> 63 else key


@dataclass(frozen=True, slots=True)
class PendingPages:
    """A batch and the rows of its pages: the input of one commit."""

    batch: Batch
    rows: list[PageRow]


class PendingBatch:
    """The batch that the parts of a worker write into until the next commit."""

    def __init__(self) -> None:
        self.batch = Batch()
        self.rows: list[PageRow] = []
        self.cuts = 0

    def cut(self) -> PendingPages:
        """Take everything since the last cut, and start a new batch."""
        log = PendingPages(self.batch, self.rows)
        self.batch, self.rows = Batch(), []
        self.cuts += 1
        return log

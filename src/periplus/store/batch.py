"""What goes into one group commit, and how do records and rows translate?

What happened since the last commit?
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
from periplus.store.manifest import PageRow
from periplus.url import url_key


class Settled(NamedTuple):
    """What became of a queued URL: the attempt, if one was made, and where the URL stands now."""

    item: QueuedUrl  # with its new due time, priority and attempts when it stays queued
    state: UrlState
    decision: Decision
    fetch: Fetch | None = None


class Refusal(NamedTuple):
    """A link that a rule of the crawl kept out of the queue."""

    host: str
    url: str
    decision: Decision
    via: str


class ForwardedUrl(NamedTuple):
    """A link into a domain that belongs to another worker."""

    share: int  # of the web, which the domain falls into
    url: str
    depth: int
    reason: Reason
    via: str
    redirects: int


class Revisit(NamedTuple):
    """A URL that was settled, and is to be asked for again."""

    item: QueuedUrl
    state: UrlState  # where it stood


class SitemapNotice(NamedTuple):
    """What a sitemap says about the age of a page that is known."""

    changed: float  # the page was changed at this time
    settled: float  # and not since this one
    patience: float  # how many intervals it may rest if it was visited since then
    longest: float  # seconds it may rest at most
    url: str


class Written(NamedTuple):
    """The archive file that holds a batch, and its size once the batch is on disk."""

    worker: int
    name: str
    size: int


class ArchiveFile(NamedTuple):
    """One archive file, and how much of it is acknowledged and how much is in segments."""

    archive_id: int
    name: str
    committed: int
    sealed: int


@dataclass(slots=True)
class Batch:
    """What one group commit acknowledges together."""

    settled: list[Settled] = field(default_factory=list)
    versions: list[Fetch] = field(default_factory=list)  # more of URLs that stand where they stood
    admitted: list[QueuedUrl] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    refused: Counter[tuple[str, Reason]] = field(default_factory=Counter)
    samples: list[Refusal] = field(default_factory=list)
    policies: dict[str, HostPolicy] = field(default_factory=dict)
    robots: list[RobotsFile] = field(default_factory=list)
    letters: list[ForwardedUrl] = field(default_factory=list)
    entered: list[Settled] = field(default_factory=list)  # visits to addresses that stand in no queue
    received: list[int] = field(default_factory=list)  # letters of others that this batch acts on
    revisits: list[Revisit] = field(default_factory=list)
    notices: list[SitemapNotice] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)  # what was learned about the addresses of hosts
    harmless: list[tuple[str, str]] = field(default_factory=list)  # hosts and patterns whose refused URLs come back
    worths: dict[str, list[float]] = field(default_factory=dict)  # by host: pages, and the sums of their clues
    copies: list[Copy] = field(default_factory=list)  # of its pages, those that nearly repeat another
    imported: list[str] = field(default_factory=list)  # URLs that an import took although the scope refuses them

    def count_worth(self, host: str, worth: CrawlQuality) -> None:
        """Add a page to what its host is worth."""
        sums = self.worths.get(host)
        self.worths[host] = [1, *worth] if sums is None else list(map(add, sums, (1, *worth)))

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
                self.letters,
                self.entered,
                self.received,
                self.revisits,
                self.notices,
                self.patterns,
                self.harmless,
                self.imported,
            )
        )


def admission_row(item: QueuedUrl) -> tuple[Any, ...]:
    """The first values of `admit`; the host's number and the time follow."""
    return item.url, item.depth, item.priority, item.due, item.reason, item.via, item.redirects


def queued_from_row(host: str, row: tuple[Any, ...]) -> QueuedUrl:
    """The record behind a row of `queue_of_host`."""
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
    """The record behind a row of `due_again`; its `due` is when it became so."""
    url, host, state, depth, priority, admitted, via, redirects, due, visits, *plan = row
    visits = max(visits, state == UrlState.DONE)  # earlier releases did not count
    item = QueuedUrl(url, host, depth, priority, Reason(admitted), via, redirects, 0, due, visits, *plan)
    return Revisit(item, UrlState(state))


def refusal_row(refusal: Refusal) -> tuple[Any, ...]:
    """The values of `keep_refusal_sample`."""
    return refusal.host, refusal.decision.reason, refusal.url, refusal.decision.detail, refusal.via


def policy_row(policy: HostPolicy) -> tuple[Any, ...]:
    """The first values of `set_policy`; the host's number follows."""
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
    """The record behind a row of `fetches_of_url` or `fetches_of_archive`."""
    url, at, status, verdict, reason, detail, mime, size, content_id, name, offset, length, *rest = row
    position = ArchivePosition(name, offset, length) if name is not None else None
    decision = Decision(Verdict(verdict), Reason(reason), detail)
    return Fetch(url, at, status, decision, mime, size, content_id or b"", position, *rest)


def content_row(fetch: Fetch) -> tuple[Any, ...]:
    """The values of `note_same_content`, and but for the last of `add_content`."""
    return fetch.content_id[:16], signed(url_key(fetch.url)), fetch.url


def signed(key: int) -> int:
    """An unsigned 64-bit number as SQLite stores it."""
    return key - (1 << 64) if key >> 63 else key


@dataclass(frozen=True, slots=True)
class PendingPages:
    """Everything between two cuts: what one commit acknowledges."""

    batch: Batch
    rows: list[PageRow]


class PendingBatch:
    """Written by all parts of a worker, cut by its commits."""

    def __init__(self) -> None:
        self.batch = Batch()
        self.rows: list[PageRow] = []
        self.cuts = 0

    def cut(self) -> PendingPages:
        """Everything since the last cut."""
        log = PendingPages(self.batch, self.rows)
        self.batch, self.rows = Batch(), []
        self.cuts += 1
        return log

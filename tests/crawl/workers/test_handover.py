"""What happens to loans and to known URLs when a share gets a new owner?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from crawl.crawling import assignment_for, settings_for
from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.shared_state import Metric, SharedState
from periplus.crawl.workers.commit import Committer
from periplus.crawl.workers.worker import WorkerParts
from periplus.crawl.workers.worker_process import WorkerBuilder
from periplus.fetch.client import Fetcher
from periplus.model import QueuedUrl, Response
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.catalog.live_state import LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.collection import create_collection
from periplus.store.shares import share_of
from periplus.url import Canonicalizer, host_of

START = 1_700_000_000.0


def host_of_worker(worker: int, *others: str) -> str:
    names = (f"site{number}.test" for number in count())
    return next(name for name in names if share_of(name) % 2 == worker and name not in others)


HERE = host_of_worker(0)
BUSIER = host_of_worker(0, HERE)
THERE = host_of_worker(1)


class HandClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> float:
        return self.time

    def ahead(self) -> float:
        return 0.0

    def idle(self, until: float) -> None:
        """Nothing to do."""


class MovedRobots:
    """A fetcher for which the robots.txt of every host redirects to one other host."""

    connected: tuple[str, ...] = ()

    def __init__(self, clock: HandClock) -> None:
        self._clock = clock
        self.asked: list[str] = []

    async def fetch(self, url: str, **_: Any) -> Response:
        self.asked.append(url)
        if host_of(url) == THERE:
            return Response(url, self._clock.now(), 200, body=b"User-agent: *\nDisallow:\n")
        return Response(url, self._clock.now(), 301, headers={"location": f"http://{THERE}/rules.txt"})

    def release_body(self, host: str) -> None:
        """No body is in memory."""

    def disconnect(self, hosts: Iterable[str]) -> None:
        """No connection is open."""


class Crawl:
    """Two workers of one crawl in one process, stepped by the test."""

    def __init__(self, home: Path) -> None:
        self.clock, self.shared = HandClock(), SharedState(2)
        self._collection = create_collection(home)
        self.catalog = open_catalog(self._collection, create=True)
        self.live = open_catalog(self._collection, LiveState)
        self.run = self.catalog.begin_run({})
        self.settings = settings_for(None, scope__hosts=[".*"], fetch__timeout=30.0, politeness__delay=1.0)
        self.fetcher = MovedRobots(self.clock)
        self._committers: list[Committer] = []

    def worker(self, number: int) -> tuple[WorkerBuilder, WorkerParts]:
        assignment = assignment_for(self.settings, self._collection, 2, self.run, self.clock)
        counters = RunCounters(self.run, self.clock.now())
        self._committers.append(Committer(self._collection, self.settings.store, number, self.run, counters.timing))
        builder = WorkerBuilder(
            assignment,
            self.shared,
            number,
            LocalCoordination(self.shared, number),
            self.catalog,
            counters,
            cast("Fetcher", self.fetcher),
            self._committers[-1],
        )
        reader = PageReader(PageParser(Canonicalizer(), links_per_page=10))
        parts = builder.build(reader, self.live, self.live.last_command())
        parts.handover.update(self.clock.now())
        return builder, parts

    def close(self) -> None:
        for committer in self._committers:
            committer.close()
        self.live.close()
        self.catalog.close()
        self.shared.close()

    def take(self, parts: WorkerParts, host: str) -> QueuedUrl:
        """The next URL of a host; those of other hosts go back."""
        taken = []
        while (item := parts.context.queues.take(self.clock.now())) is not None and item.host != host:
            taken.append(item)
        for other in taken:
            parts.context.queues.put_back(other)
            parts.context.queues.release(other.host, 0.0)
        assert item is not None
        return item

    def move_a_share(self, parts: WorkerParts) -> None:
        """Let time pass until a loaded worker has given a share to the other one, which is idle."""
        self.shared.set(1, Metric.UNDERLOADED, 1)
        parts.context.counters.timing.begin(self.clock.now())  # it is never idle
        before = self.shared.owners.tobytes()
        for _ in range(20):
            self.clock.time += 0.2
            parts.handover.update(self.clock.now())
            parts.handover.committed(parts.context.pending.cut().batch)
            if self.shared.owners.tobytes() != before:
                return
        raise AssertionError("no share has moved")


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    with closing(Crawl(tmp_path)) as crawl:
        yield crawl


def test_a_loan_for_a_share_ends_when_that_share_gets_another_owner(crawl: Crawl) -> None:
    async def story() -> None:
        builder, parts = crawl.worker(0)
        for number in range(60):
            builder.intake.seed(f"http://{BUSIER}/{number}")
        for number in range(25):
            builder.intake.seed(f"http://{HERE}/{number}")
        await parts.visitor.visit(crawl.take(parts, HERE))
        crawl.clock.time += 1.5
        await parts.visitor.visit(crawl.take(parts, HERE))
        assert crawl.fetcher.asked == [f"http://{HERE}/robots.txt"], "it waits until the owner's requests have ended"
        assert crawl.shared.borrower(share_of(THERE)) == 0
        crawl.move_a_share(parts)
        assert crawl.shared.owners[share_of(HERE)] == 1, "the share that needed the loan has another owner"
        owner, parts = crawl.worker(1)
        assert crawl.shared.borrower(share_of(THERE)) is None
        owner.intake.seed(f"http://{THERE}/")
        await parts.visitor.visit(crawl.take(parts, THERE))
        assert host_of(crawl.fetcher.asked[-1]) == THERE

    asyncio.run(story())


def test_the_known_urls_of_a_share_leave_with_it(crawl: Crawl) -> None:
    builder, parts = crawl.worker(0)
    for host, pages in ((BUSIER, 60), (HERE, 25)):
        for number in range(pages):
            builder.intake.seed(f"http://{host}/{number}")
    owned = builder.admission.owned
    assert [len(owned.of(host).keys) for host in (BUSIER, HERE)] == [60, 25]
    crawl.move_a_share(parts)
    assert crawl.shared.owners[share_of(HERE)] == 1
    assert [len(owned.of(host).keys) for host in (BUSIER, HERE)] == [60, 0]

"""Does a share that moves take everything with it that was done for it?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from crawl.voyage import settings_for
from periplus.crawl.assignment import Assignment, Budget, RecrawlPolicy
from periplus.crawl.commit import Committer
from periplus.crawl.ownership import share_of
from periplus.crawl.shared_state import Metric, SharedState
from periplus.crawl.worker import WorkerParts
from periplus.crawl.worker_process import WorkerBuilder
from periplus.fetch.client import Fetcher
from periplus.fetch.ip_limits import AddressTable
from periplus.model import QueuedUrl, Response
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.catalog import Catalog
from periplus.store.collection import create_collection
from periplus.store.run_summary import RunCounters
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
    """A fetcher in a web where the robots.txt of every host has moved to one other host."""

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
        """Nothing is held."""

    def disconnect(self, hosts: Iterable[str]) -> None:
        """Nothing is connected."""


class Crawl:
    """Two workers of one crawl, in one process, driven by hand."""

    def __init__(self, home: Path) -> None:
        self.clock, self.board = HandClock(), SharedState(2)
        self._collection = create_collection(home)
        self.catalog = Catalog(self._collection.catalog, create=True)
        self.run = self.catalog.begin_run({})
        self.settings = settings_for(None, scope__hosts=[".*"], fetch__timeout=30.0, politeness__delay=1.0)
        self.fetcher = MovedRobots(self.clock)
        self._committers: list[Committer] = []

    def worker(self, number: int) -> tuple[WorkerBuilder, WorkerParts]:
        assignment = Assignment(
            self._collection,
            self.settings,
            self.run,
            self.clock.now(),
            (),
            (),
            (),
            hold=False,
            budget=Budget(),
            after_kill=False,
            agenda=RecrawlPolicy(),
            clock=self.clock,
            addresses=AddressTable(self.settings.politeness, 2),
        )
        tally = RunCounters(self.run, self.clock.now())
        self._committers.append(Committer(self._collection, self.settings.store, number, self.run, tally.timing))
        outfit = WorkerBuilder(
            assignment,
            self.board,
            number,
            catalog=self.catalog,
            canonicalizer=Canonicalizer(),
            tally=tally,
            fetcher=cast("Fetcher", self.fetcher),
            committer=self._committers[-1],
        )
        crew = outfit.crew(PageReader(PageParser(Canonicalizer(), links_per_page=10)))
        crew.neighbours.attend(self.clock.now())
        return outfit, crew

    def close(self) -> None:
        for committer in self._committers:
            committer.close()
        self.catalog.close()
        self.board.close()

    def take(self, crew: WorkerParts, host: str) -> QueuedUrl:
        """The next URL of a host; those of other hosts go back."""
        taken = []
        while (item := crew.queues.take(self.clock.now())) is not None and item.host != host:
            taken.append(item)
        for other in taken:
            crew.queues.put_back(other)
            crew.queues.release(other.host, 0.0)
        assert item is not None
        return item

    def move_a_share(self, crew: WorkerParts) -> None:
        """Let time pass until a loaded worker has given a share to the other one, which is idle."""
        self.board.tell(1, Metric.HUNGRY, 1)
        crew.tally.timing.begin(self.clock.now())  # it is never idle
        before = self.board.owners.tobytes()
        for _ in range(20):
            self.clock.time += 0.2
            crew.neighbours.attend(self.clock.now())
            crew.neighbours.committed(crew.log.cut().batch)
            if self.board.owners.tobytes() != before:
                return
        raise AssertionError("no share has moved")


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    with closing(Crawl(tmp_path)) as crawl:
        yield crawl


def test_a_domain_borrowed_for_a_share_is_its_owners_again_when_that_share_moves(crawl: Crawl) -> None:
    async def story() -> None:
        outfit, crew = crawl.worker(0)
        for number in range(60):
            outfit.paths.seed(f"http://{BUSIER}/{number}")
        for number in range(25):
            outfit.paths.seed(f"http://{HERE}/{number}")
        await crew.visitor.visit(crawl.take(crew, HERE))
        crawl.clock.time += 1.5
        await crew.visitor.visit(crawl.take(crew, HERE))
        assert crawl.fetcher.asked == [f"http://{HERE}/robots.txt"], "it waits until the owner's requests are over"
        assert crawl.board.borrower(share_of(THERE)) == 0
        crawl.move_a_share(crew)
        assert crawl.board.owners[share_of(HERE)] == 1, "the share for which the other one was borrowed has moved"
        owner, crew = crawl.worker(1)
        assert crawl.board.borrower(share_of(THERE)) is None
        owner.paths.seed(f"http://{THERE}/")
        await crew.visitor.visit(crawl.take(crew, THERE))
        assert host_of(crawl.fetcher.asked[-1]) == THERE

    asyncio.run(story())

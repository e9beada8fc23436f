"""The frontier (admission, queues and catalog) compared with a dictionary, with kills in between."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from periplus.config import Scope
from periplus.frontier.admission import open_admission
from periplus.frontier.queues import Queues
from periplus.model import QueuedUrl, Reason, UrlState
from periplus.store.catalog.batch import Batch
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.url import host_of, registrable_domain
from store.records import WRITTEN, done, failed, refused, retried

HOSTS = ["a.example", "w.a.example", "v.a.example", "b.example", "c.example", "elsewhere.test"]
URLS = [f"http://{host}/{number}" for host in HOSTS for number in range(6)]
DEPTH = 3


class Row(NamedTuple):
    """What the model knows about a URL."""

    state: UrlState
    depth: int
    due: float = 0.0
    attempts: int = 0


class FrontierModel(RuleBasedStateMachine):
    """`rows` is the state of the current process, `disk` the state written by its commits."""

    @initialize(
        pages=st.sampled_from([2, 5, 99]), hosts=st.sampled_from([1, 2, 99]), capacity=st.sampled_from([1, 4, 99])
    )
    def begin(self, pages: int, hosts: int, capacity: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.pages, self.hosts, self.capacity = pages, hosts, capacity
        self.scope = Scope(hosts=[".*[.]example"], depth=DEPTH, pages_per_domain=pages, hosts_per_domain=hosts)
        self.now = 1000.0
        self.disk: dict[str, Row] = {}
        self.catalog = Catalog(SqliteDatabase(Path(self.folder.name) / "crawl.db", create=True))
        self.start_process()

    def start_process(self) -> None:
        """Start a process with the state on disk."""
        self.admission = open_admission(self.catalog, self.scope)
        self.queues = Queues(self.catalog, self.capacity)
        self.queues.load(self.catalog.waiting_hosts())
        self.rows = dict(self.disk)
        self.taken: dict[str, QueuedUrl] = {}
        self.batch = Batch()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.drain()
            self.catalog.close()
            self.folder.cleanup()

    # rules

    @rule(urls=st.lists(st.sampled_from(URLS), min_size=1, max_size=6), depth=st.integers(0, DEPTH + 1))
    def admit(self, urls: list[str], depth: int) -> None:
        self.queues.count_links(urls)
        for url in urls:
            expected = self.expected(url, depth)
            outcome = self.admission.admit(url, depth=depth, reason=Reason.LINK, via="")
            if isinstance(outcome, QueuedUrl):
                assert expected is True
                assert (outcome.url, outcome.host, outcome.depth, outcome.due) == (url, host_of(url), depth, 0.0)
                self.rows[url] = Row(UrlState.QUEUED, depth)
                self.batch.admitted.append(outcome)
                self.queues.add(outcome)
            else:
                assert expected == (None if outcome is None else outcome.reason)

    @rule(seconds=st.sampled_from([1.0, 60.0]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    @rule(times=st.integers(1, 4))
    def take(self, times: int) -> None:
        for _ in range(times):
            item = self.queues.take(self.now)
            if item is not None:
                row = self.rows[item.url]
                assert (row.state, row.depth, row.attempts) == (UrlState.QUEUED, item.depth, item.attempts)
                assert row.due <= self.now
                assert item.host not in self.taken, "one request a host"
                self.taken[item.host] = item

    @precondition(lambda self: self.taken)
    @rule(data=st.data(), outcome=st.sampled_from(["done", "failed", "refused", "retried", "put back"]))
    def finish(self, data: st.DataObject, outcome: str) -> None:
        item = self.taken.pop(data.draw(st.sampled_from(sorted(self.taken))))
        if outcome == "put back":
            self.queues.put_back(item)
        elif outcome == "retried":
            settled = retried(item, due=self.now + 30)
            self.batch.settled.append(settled)
            self.queues.put_back(settled.item)
            self.rows[item.url] = Row(UrlState.QUEUED, item.depth, self.now + 30, item.attempts + 1)
        else:
            settled = {"done": done, "failed": failed, "refused": refused}[outcome](item)
            self.batch.settled.append(settled)
            self.rows[item.url] = Row(settled.state, item.depth)
        self.queues.release(item.host, self.now + 1)

    @rule()
    def commit(self) -> None:
        self.catalog.commit(self.batch, WRITTEN, 1, {})
        gone = [entry.item for entry in self.batch.settled if entry.state is not UrlState.QUEUED]
        self.queues.acknowledged(gone, self.batch.admitted)
        self.batch, self.disk = Batch(), dict(self.rows)
        states = Counter(row.state for row in self.rows.values())
        counters = self.catalog.counters()
        assert counters == self.catalog.recount()
        assert counters["known"] == len(self.rows)
        assert [counters[state.name.lower()] for state in UrlState] == [states[state] for state in UrlState]

    @rule(seeds=st.lists(st.sampled_from(URLS), max_size=3))
    def kill(self, seeds: list[str]) -> None:
        """Uncommitted changes are lost; seeds given again are tried again."""
        self.catalog.requeue(seeds)
        for url in seeds:
            if (row := self.disk.get(url)) and row.state in (UrlState.FAILED, UrlState.REFUSED):
                self.disk[url] = Row(UrlState.QUEUED, row.depth)
        self.start_process()

    # invariants

    def expected(self, url: str, depth: int) -> bool | Reason | None:
        """True: the URL is admitted; None: it is known; else the reason why it is refused."""
        host, domain = host_of(url), registrable_domain(host_of(url))
        family = [known for known in self.rows if registrable_domain(host_of(known)) == domain]
        names = {host_of(known) for known in family}
        if url in self.rows:
            return None
        if host.endswith(".test"):
            return Reason.SCOPE_HOST
        if depth > DEPTH:
            return Reason.TOO_DEEP
        if len(family) >= self.pages:
            return Reason.DOMAIN_CAP
        return Reason.HOSTS_CAP if host not in names and len(names) >= self.hosts else True

    def drain(self) -> None:
        """Each URL that is admitted and not settled is taken once; then every host is forgotten."""
        for host, taken in self.taken.items():
            self.queues.put_back(taken)
            self.queues.release(host, self.now)
        self.commit()
        waiting = sorted(url for url, row in self.rows.items() if row.state is UrlState.QUEUED)
        come: list[str] = []
        while self.queues.has_work():
            self.now += 60.0
            while (item := self.queues.take(self.now)) is not None:
                come.append(item.url)
                self.batch.settled.append(done(item))
                self.rows[item.url] = Row(UrlState.DONE, item.depth)
                self.queues.release(item.host, self.now)
            self.commit()
        assert sorted(come) == waiting
        assert self.queues.take(self.now + 60) is None
        assert (len(self.queues), self.queues.buffered) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("examples", [150, pytest.param(50_000, marks=[pytest.mark.long], id="long")])
def test_the_frontier_behaves_like_a_dictionary(examples: int) -> None:
    run_state_machine_as_test(FrontierModel, settings=settings(max_examples=examples, stateful_step_count=30))

"""The contract of every frontier store."""

from __future__ import annotations

import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contracts.memory import FrontierStore, MemoryStore
from periplus.frontier import queues
from periplus.frontier.queues import Queues
from periplus.model import HostPolicy, QueuedUrl, Reason, RobotsFile, UrlState
from periplus.store.catalog.batch import ArchiveFile, Batch, Revisit, Settled, SitemapNotice, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from store.records import AT, WRITTEN, batch_of, done, failed, queued, refused, retried

URL = "https://example.org/a"
ITEM = queued(URL, 2.0, via="https://example.org/")


class Place(Protocol):
    """A location of a store, which can be reopened as after a kill."""

    def open(self) -> FrontierStore: ...
    def lose(self, store: FrontierStore) -> None: ...


class MemoryPlace:
    """Dictionaries that are never closed."""

    def __init__(self, _folder: Path, _url: str) -> None:
        self._store = MemoryStore()

    def open(self) -> FrontierStore:
        return self._store

    def lose(self, store: FrontierStore) -> None:
        pass


class CatalogPlace:
    """A file, or a schema of a PostgreSQL database."""

    def __init__(self, folder: Path, url: str) -> None:
        own_schema = f"{url}&options=-csearch_path%3D{folder.name.lower()}" if url else ""
        self._collection = Collection(folder, own_schema)

    def open(self) -> FrontierStore:
        return open_catalog(self._collection, create=True)

    def lose(self, store: FrontierStore) -> None:
        store.close()


KINDS: dict[str, Callable[[Path, str], Place]] = {
    "memory": MemoryPlace,
    "sqlite": CatalogPlace,
    "postgres": CatalogPlace,
}
every_store = pytest.mark.parametrize("kind", KINDS)


class Kept:
    """A store that is reopened for every call, so that every result was durable."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @contextmanager
    def open(self) -> Iterator[FrontierStore]:
        store = self._place.open()
        try:
            yield store
        finally:
            self._place.lose(store)

    def commit(self, batch: Batch, written: Written = WRITTEN) -> int:
        with self.open() as store:
            return store.commit(batch, written, 1, {})

    def queue(self, host: str = "example.org", limit: int = 99, now: float = math.inf) -> list[QueuedUrl]:
        with self.open() as store:
            return store.queue_of(host, limit, now)

    def waiting(self) -> list[str]:
        with self.open() as store:
            return sorted(policy.host for policy in store.waiting_hosts())

    def due_again(self, until: float, after: tuple[float, float, str], limit: int) -> list[Revisit]:
        with self.open() as store:
            return store.due_again(until, after, limit)

    def next_due_again(self, after: float) -> float | None:
        with self.open() as store:
            return store.next_due_again(after)

    def counters(self, *names: str) -> list[int]:
        with self.open() as store:
            found = store.counters()
        return [found[name] for name in names]


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("postgres")) if kind == "postgres" else ""


@pytest.fixture
def kept(kind: str, url: str, tmp_path: Path) -> Kept:
    return Kept(KINDS[kind](tmp_path, url))


# --- queues ---


@every_store
def test_a_new_store_is_empty(kept: Kept) -> None:
    with kept.open() as store:
        assert (store.waiting_hosts(), store.queue_of("example.org", 5, AT), list(store.known_urls())) == ([], [], [])
        assert (store.seeds(), store.archives(), store.domain_sizes(), store.refusals()) == ([], [], {}, {})
        assert (store.policy("example.org"), store.robots("https://example.org")) == (None, None)
        assert set(store.counters().values()) == {0}


@every_store
def test_what_is_admitted_is_queued_as_it_was(kept: Kept) -> None:
    item = QueuedUrl(URL, "example.org", 3, 1.5, Reason.REDIRECT_TARGET, "https://example.org/", 2)
    kept.commit(batch_of(item))
    assert kept.queue() == [item]
    assert kept.waiting() == ["example.org"]


@every_store
def test_the_best_come_first_and_no_more_than_the_limit(kept: Kept) -> None:
    rng = random.Random(3)
    items = [queued(f"https://example.org/{n}", float(rng.randrange(40)), due=float(n % 2)) for n in range(60)]
    kept.commit(batch_of(*items, queued("https://other.example/", -1.0)))
    expected = sorted((item.priority, item.due) for item in items)
    for limit in (1, 7, 60, 99):
        found = [(item.priority, item.due) for item in kept.queue(limit=limit)]
        assert found == expected[:limit]


@every_store
def test_what_is_due_later_is_passed_over_until_its_time(kept: Kept) -> None:
    late = [queued(f"https://example.org/late{n}", due=50.0 + n) for n in range(20)]
    never, ready = queued("https://example.org/never", due=math.inf), queued("https://example.org/ready", 9.0)
    kept.commit(batch_of(*late, never, ready))
    assert kept.queue(limit=3, now=49.0) == [ready]
    assert kept.queue(limit=9, now=50.5) == [late[0], ready]
    for now, due in ((0.0, 50.0), (50.0, 51.0), (69.0, None)):
        with kept.open() as store:
            assert store.next_due("example.org", now) == due
            assert store.next_due("other.example", now) is None


@every_store
def test_a_url_is_admitted_once_and_the_first_time_counts(kept: Kept) -> None:
    kept.commit(batch_of(ITEM, ITEM._replace(depth=7)))
    kept.commit(batch_of(ITEM._replace(depth=9, priority=0.0, via="elsewhere")))
    assert kept.queue() == [ITEM]
    assert kept.counters("known", "queued") == [1, 1]


@every_store
@pytest.mark.parametrize(
    ("settle", "counter"), [(done, "done"), (failed, "failed"), (refused, "refused")], ids=["done", "failed", "refused"]
)
def test_what_is_settled_leaves_the_queue_and_stays_known(
    settle: Callable[[QueuedUrl], Settled], counter: str, kept: Kept
) -> None:
    other = queued("https://example.org/b", 5.0)
    kept.commit(batch_of(ITEM, other))
    kept.commit(Batch(settled=[settle(ITEM)]))
    assert kept.queue() == [other]
    assert kept.counters("known", "queued", counter) == [2, 1, 1]
    kept.commit(batch_of(ITEM))
    assert kept.queue() == [other]
    kept.commit(Batch(settled=[settle(other)]))
    assert (kept.queue(), kept.waiting()) == ([], [])
    with kept.open() as store:
        assert sorted(store.known_urls()) == [URL, other.url]


@every_store
def test_one_commit_may_admit_and_settle_a_url(kept: Kept) -> None:
    kept.commit(Batch(admitted=[ITEM], settled=[done(ITEM)]))
    assert (kept.queue(), kept.waiting()) == ([], [])
    assert kept.counters("known", "queued", "done", "fetched", "bytes") == [1, 0, 1, 1, 8]


@every_store
def test_what_is_tried_again_stays_queued_with_its_attempts_and_time(kept: Kept) -> None:
    kept.commit(batch_of(ITEM))
    entry = retried(ITEM, due=77.0)
    kept.commit(Batch(settled=[entry]))
    assert kept.queue() == [ITEM._replace(attempts=1, due=77.0)]
    assert kept.counters("known", "queued", "fetched") == [1, 1, 0]
    with kept.open() as store:
        assert store.fetches_of(URL) == [entry.fetch]


@every_store
@pytest.mark.parametrize("settle", [failed, refused])
def test_a_failed_seed_given_again_is_requeued(settle: Callable[[QueuedUrl], Settled], kept: Kept) -> None:
    tried = ITEM._replace(attempts=2, due=50.0)
    kept.commit(Batch(admitted=[ITEM], settled=[settle(tried)]))
    for _ in range(2):
        with kept.open() as store:
            store.requeue([URL, "https://never.met/"])
        assert kept.queue() == [ITEM]
        assert kept.counters("known", "queued", "failed", "refused") == [1, 1, 0, 0]


@every_store
def test_a_page_that_was_fetched_is_queued_again_when_its_seed_is_given_to_a_new_run(kept: Kept) -> None:
    kept.commit(Batch(admitted=[ITEM], settled=[done(ITEM)]))
    for _ in range(2):
        with kept.open() as store:
            store.requeue([URL, "https://never.met/"], done_too=True)
        assert kept.queue() == [ITEM._replace(visits=1)]
        assert kept.counters("known", "queued", "done") == [1, 1, 0]


@every_store
def test_the_number_of_visits_is_kept(kept: Kept) -> None:
    kept.commit(Batch(admitted=[ITEM], settled=[done(ITEM._replace(visits=3))]))
    with kept.open() as store:
        store.requeue([URL], done_too=True)
    assert kept.queue() == [ITEM._replace(visits=3)]


@every_store
def test_a_page_that_was_fetched_is_not_queued_again_while_its_run_goes_on(kept: Kept) -> None:
    waiting = queued("https://example.org/b", attempts=1, due=9.0)
    kept.commit(Batch(admitted=[ITEM, waiting], settled=[done(ITEM), retried(waiting, due=9.0)]))
    before = kept.queue()
    with kept.open() as store:
        store.requeue([URL, waiting.url])
    assert kept.queue() == before


# --- what is known ---


@every_store
def test_caps_count_the_urls_of_a_domain_over_its_hosts(kept: Kept) -> None:
    hosts = ["a.example.co.uk", "b.example.co.uk", "example.org", "192.0.2.1"]
    items = [queued(f"https://{host}/{n}") for host in hosts for n in range(2)]
    kept.commit(Batch(admitted=items, settled=[done(items[0]), failed(items[1])]))
    with kept.open() as store:
        assert store.domain_sizes() == {"example.co.uk": 4, "example.org": 2, "192.0.2.1": 2}


@every_store
def test_the_policy_of_a_host_is_the_last_one(kept: Kept) -> None:
    kept.commit(batch_of(ITEM))
    with kept.open() as store:
        assert store.policy("example.org") == HostPolicy("example.org", None)
    for policy in (HostPolicy("example.org", 2.0, "Crawl-delay", 50.0, 3), HostPolicy("example.org", None, "", 60.5)):
        kept.commit(Batch(policies={policy.host: policy}))
        with kept.open() as store:
            assert store.policy("example.org") == policy
            assert store.waiting_hosts() == [policy]
    kept.commit(Batch(policies={"idle.example": HostPolicy("idle.example", 1.0)}))
    assert kept.waiting() == ["example.org"]


@every_store
def test_the_robots_file_of_an_origin_is_the_last_one(kept: Kept) -> None:
    origin = "https://example.org"
    for file in (RobotsFile(origin, AT, 200, b"User-agent: *\n\xff"), RobotsFile(origin, AT + 9, 0, b"")):
        kept.commit(Batch(robots=[file]))
        with kept.open() as store:
            assert store.robots(origin) == file
            assert store.robots("http://example.org") is None


@every_store
def test_seeds_are_kept_once_and_in_order(kept: Kept) -> None:
    for seed in ("https://z.example/", "https://a.example/", "https://z.example/"):
        kept.commit(Batch(seeds=[seed]))
    with kept.open() as store:
        assert store.seeds() == ["https://z.example/", "https://a.example/"]


@every_store
def test_refused_links_are_counted_by_reason(kept: Kept) -> None:
    for number in (2, 3):
        batch = Batch()
        batch.refused["a.example", Reason.ROBOTS] += number
        batch.refused["b.example", Reason.ROBOTS] += 1
        batch.refused["a.example", Reason.EXTENSION] += 1
        kept.commit(batch)
    with kept.open() as store:
        assert store.refusals() == {"robots": 7, "extension": 2}


# --- what is due again ---

NOWHERE = (-math.inf, 0.0, "")


def rested(kept: Kept, **dues: float) -> None:
    """Pages by name, each with the time at which it is due again."""
    items = [
        queued(f"https://a.test/{name}")._replace(due=due, interval=5.0, visited=1.0) for name, due in dues.items()
    ]
    kept.commit(Batch(admitted=[item._replace(due=0.0) for item in items], settled=[done(item) for item in items]))


def names(found: list[Revisit]) -> list[str]:
    return [revisit.item.url.rpartition("/")[2] for revisit in found]


@every_store
def test_pages_due_for_a_recrawl_come_in_the_order_of_their_due_time(kept: Kept) -> None:
    rested(kept, late=30.0, first=10.0, b=20.0, a=20.0, never=math.inf)
    kept.commit(Batch(admitted=[queued("https://a.test/new")]))
    assert names(kept.due_again(5.0, NOWHERE, 9)) == []
    assert names(kept.due_again(99.0, NOWHERE, 9)) == ["first", "a", "b", "late"]
    found = kept.due_again(99.0, NOWHERE, 2)
    last = found[-1].item
    assert names(found) == ["first", "a"]
    assert names(kept.due_again(99.0, (last.due, last.interval, last.url), 9)) == ["b", "late"]
    assert (kept.next_due_again(5.0), kept.next_due_again(20.0), kept.next_due_again(30.0)) == (
        10.0,
        30.0,
        None,
    )


@every_store
def test_a_recrawled_page_is_queued_once_and_counted(kept: Kept) -> None:
    rested(kept, x=10.0)
    (revisit,) = kept.due_again(99.0, NOWHERE, 9)
    again = Revisit(revisit.item._replace(due=0.0, priority=1_000.0), revisit.state)
    for _ in range(2):
        kept.commit(Batch(revisits=[again]))
        (item,) = kept.queue("a.test")
        assert (item.priority, item.interval, item.visited, item.visits) == (1_000.0, 5.0, 1.0, 1)
        assert kept.due_again(99.0, NOWHERE, 9) == []
        assert kept.counters("known", "queued", "done") == [1, 1, 0]
    kept.commit(Batch(settled=[done(item._replace(due=99.0))]))
    assert kept.counters("known", "queued", "done") == [1, 0, 1]


@every_store
def test_a_page_recrawled_and_settled_by_one_commit_is_done(kept: Kept) -> None:
    rested(kept, x=10.0)
    (revisit,) = kept.due_again(99.0, NOWHERE, 9)
    kept.commit(Batch(revisits=[revisit], settled=[done(revisit.item._replace(due=200.0))]))
    assert kept.next_due_again(0.0) == 200.0
    assert kept.counters("known", "queued", "done") == [1, 0, 1]


@every_store
@pytest.mark.parametrize(
    ("changed", "settled", "due"),
    [
        (50.0, 50.0, 50.0),  # changed since it was visited at 10: due since then
        (5.0, 5.0, 30.0),  # not changed: due after twice its interval of 10
        (5.0, 15.0, 20.0),  # perhaps
        (70.0, 70.0, 20.0),  # it is due anyway
    ],
)
def test_a_sitemap_date_makes_a_page_due_or_delays_its_recrawl(
    kept: Kept, changed: float, settled: float, due: float
) -> None:
    item = queued("https://a.test/x")._replace(interval=10.0, visited=10.0)
    first = 60.0 if changed == 50.0 else 20.0
    kept.commit(Batch(admitted=[item], settled=[done(item._replace(due=first))]))
    kept.commit(Batch(notices=[SitemapNotice(changed, settled, 2.0, 1_000.0, item.url)]))
    assert kept.next_due_again(0.0) == due


@every_store
def test_every_attempt_is_kept_in_order(kept: Kept) -> None:
    first, second = retried(ITEM, due=5.0), failed(ITEM)
    kept.commit(Batch(admitted=[ITEM], settled=[first]))
    kept.commit(Batch(settled=[second]))
    with kept.open() as store:
        assert store.fetches_of(URL) == [first.fetch, second.fetch]


@every_store
def test_the_acknowledged_size_of_an_archive_is_the_last_one(kept: Kept) -> None:
    numbers = [kept.commit(Batch(), Written(0, "one", 10)), kept.commit(Batch(), Written(0, "one", 30))]
    numbers += [kept.commit(Batch(), Written(0, "two", 5)), kept.commit(Batch(), Written(1, "three", 7))]
    one, same, two, three = numbers
    assert one == same
    with kept.open() as store:
        assert store.archives(0) == [ArchiveFile(one, "one", 30, 0), ArchiveFile(two, "two", 5, 0)]
        assert store.archives(1) == [ArchiveFile(three, "three", 7, 0)]
        assert len(store.archives()) == 3


@every_store
def test_the_failed_urls_of_a_retried_host_are_queued_and_due(kept: Kept) -> None:
    items = [queued(f"https://example.org/{name}") for name in ("failed", "waiting", "fetched", "later")]
    later = items[3]._replace(due=math.inf)
    other = queued("https://other.example/")
    kept.commit(Batch(admitted=[*items[:3], later, other]))
    kept.commit(Batch(settled=[failed(items[0]), retried(items[1], due=AT + 99), done(items[2]), failed(other)]))
    kept.commit(Batch(retried=["example.org"]))
    with kept.open() as store:
        found = {item.url: (item.attempts, item.due) for item in store.queue_of("example.org", 9, AT)}
        assert found == {items[0].url: (0, 0.0), items[1].url: (0, 0.0)}
        assert store.queue_of("other.example", 9, AT) == []
    assert kept.counters("known", "queued", "done", "failed") == [5, 3, 1, 1]


# --- all or nothing ---


class BrokenOff(list[RobotsFile]):
    """Records that cannot be read."""

    def __iter__(self) -> Iterator[RobotsFile]:
        raise KeyError("the batch is broken")


@every_store
def test_a_batch_that_breaks_off_leaves_nothing_and_the_next_one_works(kept: Kept) -> None:
    kept.commit(batch_of(ITEM))
    new = queued("https://new.example/")
    with kept.open() as store:
        broken = Batch(settled=[done(ITEM)], admitted=[new], seeds=[new.url], robots=BrokenOff())
        with pytest.raises(KeyError):
            store.commit(broken, Written(0, WRITTEN.name, 9999), 1, {})
        assert (store.queue_of("example.org", 9, AT), store.queue_of("new.example", 9, AT)) == ([ITEM], [])
        assert [file.committed for file in store.archives()] == [WRITTEN.size]
        store.commit(batch_of(queued("https://other.example/"), new), WRITTEN, 1, {})
        assert store.queue_of("new.example", 9, AT) == [new]
    assert kept.waiting() == ["example.org", "new.example", "other.example"]
    assert kept.counters("known", "queued", "done") == [3, 3, 0]
    with kept.open() as store:
        assert store.seeds() == []


# --- the frontier over a store ---


class KilledCrawl:
    """A crawl of a small web that is killed now and then: links, queues and commits as in the real one."""

    def __init__(self, kept: Kept, seed: int) -> None:
        self.kept, self.rng = kept, random.Random(seed)
        pages = [f"https://host{n % 5}.example/{n}" for n in range(60)]
        self.links = {page: self.rng.sample(pages, 4) for page in pages}
        self.visits: Counter[str] = Counter()
        self.kills = self.lost = 0

    def run(self) -> None:
        first, *_ = self.links
        self.kept.commit(batch_of(queued(first)))
        while not self.run_once(kill_within=self.rng.randrange(5, 60) if self.kills < 3 else 10**6):
            self.kills += 1

    def run_once(self, kill_within: int) -> bool:
        """Crawl until everything is fetched (True) or the process dies."""
        with self.kept.open() as store:
            frontier = Queues(store, capacity=8)
            frontier.load(store.waiting_hosts())
            known, batch, now = set(store.known_urls()), Batch(), 0.0
            while frontier.has_work() or batch:
                now += 1.0
                item = frontier.take(now)
                if item is not None:
                    self.visit(item, known, batch, frontier)
                    frontier.release(item.host, now)
                    kill_within -= 1
                if kill_within <= 0:
                    self.lost += len(batch.settled)
                    return False
                if item is None or self.rng.random() < 0.2:
                    store.commit(batch, WRITTEN, 1, {})
                    gone = [entry.item for entry in batch.settled if entry.state is not UrlState.QUEUED]
                    frontier.acknowledged(gone, batch.admitted)
                    batch = Batch()
        return True

    def visit(self, item: QueuedUrl, known: set[str], batch: Batch, frontier: Queues) -> None:
        self.visits[item.url] += 1
        if item.attempts == 0 and self.rng.random() < 0.1:
            entry = retried(item, due=float(self.rng.randrange(1, 30)))
            frontier.put_back(entry.item)
            batch.settled.append(entry)
            return
        batch.settled.append(done(item))
        for link in self.links[item.url]:
            if link not in known:
                known.add(link)
                batch.admitted.append(queued(link, item.priority + 1))
                frontier.add(batch.admitted[-1])

    def reachable(self) -> set[str]:
        found, todo = set[str](), [next(iter(self.links))]
        while todo:
            if (page := todo.pop()) not in found:
                found.add(page)
                todo += self.links[page]
        return found


@pytest.mark.slow
@every_store
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_crawl_that_is_killed_fetches_everything_and_nothing_twice(
    kind: str, url: str, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(queues, "_MAX_PER_HOST", 3)
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(KINDS[kind](Path(folder), url))
        crawl = KilledCrawl(kept, seed)
        crawl.run()
        assert crawl.kills
        reachable = crawl.reachable()
        with kept.open() as store:
            assert set(store.known_urls()) == reachable
            acknowledged = {url: store.fetches_of(url) for url in reachable}
            assert store.waiting_hosts() == []
            assert store.counters()["done"] == len(reachable)
    fetched = [sum(fetch.status == 200 for fetch in fetches) for fetches in acknowledged.values()]
    assert fetched == [1] * len(reachable)
    attempts = sum(len(fetches) for fetches in acknowledged.values())
    assert crawl.visits.total() == attempts + crawl.lost  # only what no commit had acknowledged was done again

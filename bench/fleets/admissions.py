"""Measures how many URLs a second several workers admit into one catalog.

Every worker commits batches as a crawl does: the pages of a batch are settled with their fetches, and each has some new
links. The batches are made before the clock starts, so the figure is that of the database and of `Catalog.commit`.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import psycopg

from harness.errors import BenchError
from periplus.model import ArchivePosition, Decision, Fetch, HostPolicy, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection

PAGES = 256  # pages of a batch: `store.commit_pages`
NEW_LINKS = 14  # new links per page of the open web
HOSTS = 300  # hosts of a worker's shares
_LONGEST = 600.0  # seconds for which the processes wait for each other
_OK = Decision(Verdict.FETCHED, Reason.OK, "")


def admissions(
    home: Path, database: str, writers: int, batches: int, server_seconds: Callable[[], float]
) -> dict[str, float]:
    """Lets *writers* processes commit *batches* each; *server_seconds* reads the processor time of the server."""
    collection = Collection(home, database)
    with closing(open_catalog(collection, create=True)) as catalog:
        run_id = catalog.begin_run({})
    context = multiprocessing.get_context("fork")
    ready, done = (context.Barrier(writers + 1, timeout=_LONGEST) for _ in range(2))
    processes = [
        context.Process(target=write, args=(collection, number, run_id, batches, ready, done))
        for number in range(writers)
    ]
    for process in processes:
        process.start()
    ready.wait()
    began, spent = time.monotonic(), server_seconds()
    done.wait()
    seconds, spent = time.monotonic() - began, server_seconds() - spent
    for process in processes:
        process.join()
    number = writers * batches * PAGES * NEW_LINKS
    with psycopg.connect(database) as connection:
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    with closing(open_catalog(collection, read_only=True)) as catalog:
        known = catalog.counters()["known"]
        if known != catalog.recount()["known"] or known < number:
            raise BenchError(f"{known} URLs are known, not {number}")
    return {
        "writers": writers,
        "admitted": number,
        "admissions_per_second": round(number / seconds),
        "server_cores": round(spent / seconds, 2),
        "database_bytes_per_url": round(size[0] / known) if size else 0,
        "server_microseconds_per_url": round(spent / number * 1e6, 1),
    }


def write(collection: Collection, worker: int, run_id: int, batches: int, ready: Barrier, done: Barrier) -> None:
    """Commits the batches of one worker."""
    made = made_batches(worker, batches)
    with closing(open_catalog(collection)) as catalog:
        catalog.commit(made[0], Written(worker, f"w{worker:04}-000001.warc.gz", 0), run_id, {})
        ready.wait()
        for number, batch in enumerate(made[1:], 1):
            catalog.commit(batch, Written(worker, f"w{worker:04}-000001.warc.gz", number * 1_000_000), run_id, {})
        done.wait()


def made_batches(worker: int, number: int) -> list[Batch]:
    """Batches of a worker: the pages of each were admitted by the one before."""
    rng, sizes, found = random.Random(worker), Counter[int](), []
    earlier: list[QueuedUrl] = []
    for step in range(number + 1):
        hosts = rng.choices(range(HOSTS), [1 / (host + 1) ** 0.7 for host in range(HOSTS)], k=PAGES)
        batch = Batch(admitted=[made_item(worker, host, sizes) for host in hosts for _ in range(NEW_LINKS)])
        batch.settled = [
            made_page(item, place) for place, item in enumerate(rng.sample(earlier, PAGES) if step else [])
        ]
        for host in set(hosts):
            name = made_host(worker, host)
            batch.policies[name] = HostPolicy(name, 1.0, "configured", 1e9 + step, 0)
            batch.refused[f"linked{host}.example", Reason.SCOPE_HOST] += 3
            batch.qualities[name] = [1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
        earlier = batch.admitted
        found.append(batch)
    return found


def made_host(worker: int, host: int) -> str:
    return f"www.site{worker}-{host}.example"


def made_item(worker: int, host: int, sizes: Counter[int]) -> QueuedUrl:
    sizes[host] += 1
    page, name = sizes[host], made_host(worker, host)
    url = f"https://{name}/section/{page // 100}/topic-{page % 100}/article-{page}.html"
    return QueuedUrl(url, name, 3, 2.0 + page % 7, Reason.LINK, f"https://{name}/section/{page // 100}/")


def made_page(item: QueuedUrl, place: int) -> Settled:
    position = ArchivePosition("w", place * 4_000, 4_000)
    content = random.Random(item.url).randbytes(32)
    fetch = Fetch(item.url, 1e9, 200, _OK, "text/html", 20_000, content, position)
    return Settled(item._replace(visits=1, interval=86_400.0, visited=1e9), UrlState.DONE, _OK, fetch)

"""Measures how long every view of the console takes with ten million queued URLs, and how much CPU its live pages need.

The web is that of bench/frontier.py: hosts of very different size. Some URLs have failed or were refused, some links
were refused, hosts have delays, and there are samples of a week. Every view is requested from a real server on
loopback, at first and several times again; the first request reads the catalog from disk.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from uvicorn import Server

from frontier import ARCHIVE, BATCH, NEW_LINKS, SCOPE, address, admitted, visited_hosts
from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny
from periplus.config import Console, Serving
from periplus.console.app import create_console
from periplus.console.reader import Sources
from periplus.frontier.admission import open_admission
from periplus.model import Decision, HostPolicy, Pattern, QueuedUrl, Reason, UrlState, Verdict
from periplus.site.access.credentials import Credentials
from periplus.site.access.tokens import hash_token
from periplus.site.access.visitors import AccessOptions
from periplus.site.listener import listen
from periplus.site.server import configuration
from periplus.store.catalog.batch import Batch, Refusal, Settled
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import create_collection
from periplus.url import host_of

FAILED, REFUSED = 0.02, 0.02  # shares of the URLs
WEEK = 7 * 86_400
ERRORS = (
    Decision(Verdict.DROPPED, Reason.HTTP_ERROR, "404"),
    Decision(Verdict.DROPPED, Reason.HTTP_ERROR, "503"),
    Decision(Verdict.DROPPED, Reason.TIMEOUT, "30 s"),
)
RULE = Decision(Verdict.REFUSED, Reason.ROBOTS, "robots.txt line 2: Disallow: /section/9/")
OTHER_HOST = Decision(Verdict.REFUSED, Reason.SCOPE_HOST, "it matches none of scope.hosts")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--urls", type=int, default=10_000_000, help="known URLs (10 million)")
    parser.add_argument("--hosts", type=int, default=20_000, help="hosts they spread over (20,000)")
    parser.add_argument("--rounds", type=int, default=5, help="requests of each view after the first (5)")
    parser.add_argument("--live", type=float, default=20.0, help="seconds to follow the live pages (20)")
    parser.add_argument("--folder", type=Path, help="where to build the collection (the system's temporary folder)")
    parser.add_argument("--home", type=Path, help="a collection that this bench has built: nothing is built")
    add_tiny(parser, urls=20_000, hosts=50, rounds=1, live=2.5)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    if options.home is not None:
        return {"bench": "console", **measured(options.home, options)}
    with tempfile.TemporaryDirectory(prefix="console-", dir=options.folder) as home:
        child = os.fork()
        if not child:
            fill(Path(home), options.urls, options.hosts)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise BenchError("filling the catalog failed")
        return {"bench": "console", **measured(Path(home), options)}


def measured(home: Path, options: argparse.Namespace) -> dict[str, Any]:
    with serving(home) as port:
        views = {name: timed(port, path, options.rounds) for name, path in paths(options.hosts).items()}
        cpu = live_cpu(port, options.live)
    slowest = max(views, key=lambda name: views[name]["median_ms"])
    return {
        "urls": options.urls,
        "hosts": options.hosts,
        "views": {name: figures["median_ms"] for name, figures in views.items()},
        "first": {name: figures["first_ms"] for name, figures in views.items()},
        "slowest": slowest,
        "slowest_ms": views[slowest]["median_ms"],
        "live_cpu_percent": cpu,
    }


def paths(hosts: int) -> dict[str, str]:
    """Every view; of the largest host, and of the last page of lists."""
    url, name = address(0, 5), host_of(address(0, 5))
    middle = host_of(address(hosts // 2, 1))
    return {
        "overview": "/console/",
        "overview of a week": "/console/?span=7d",
        "workers": "/console/workers",
        "commands": "/console/commands",
        "hosts by queue": "/console/hosts",
        "hosts by name": "/console/hosts?order=name",
        "hosts by name, later": f"/console/hosts?order=name&after=0:{middle}",
        "hosts by errors": "/console/hosts?order=errors&only=errors",
        "hosts that wait": "/console/hosts?order=next&only=waiting",
        "hosts by part of a name": "/console/hosts?contains=site77",
        "host": f"/console/host?host={name}",
        "url": f"/console/url?url={quote(url)}",
        "inspector, url": f"/console/inspect?what={quote(url)}",
        "inspector, host": f"/console/inspect?what={name}",
        "errors": "/console/errors",
        "errors of a kind": "/console/errors?reason=http_error&status=404",
        "refusals": "/console/refusals",
        "refusals of a kind": "/console/refusals?reason=robots",
        "seeds": "/console/seeds",
        "scope": "/console/scope",
        "traps": "/console/traps",
        "robots": f"/console/robots?url={quote(url)}",
        "runs": "/console/runs",
        "generations": "/console/generations",
        "settings": "/console/settings",
        "scope, dry run": "POST /console/api/scope",
    }


def timed(port: int, path: str, rounds: int) -> dict[str, float]:
    """Milliseconds of the first request, and the median of the others."""
    first, *others = [request(port, path) for _ in range(rounds + 1)]
    return {"first_ms": round(first, 1), "median_ms": round(statistics.median(others), 1)}


def request(port: int, path: str) -> float:
    """Sends one request; returns the milliseconds until its answer is complete."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    method, _, target = path.rpartition(" ")
    headers = {"Authorization": "Bearer bench", "Content-Type": "application/x-www-form-urlencoded"}
    body = "hosts=www1[0-9]*[.].*&paths=topic-[0-4]&depth=3" if method else None
    started = time.perf_counter()
    connection.request(method or "GET", target, body, headers)
    answer = connection.getresponse()
    answer.read()
    elapsed = 1000 * (time.perf_counter() - started)
    connection.close()
    if answer.status != 200:
        raise BenchError(f"{path} returned {answer.status}")
    return elapsed


def live_cpu(port: int, seconds: float) -> float:
    """Percent of one core that this process needs while two pages are followed, the overview and the workers."""
    stop = threading.Event()

    def follow(view: str) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", f"/console/events?view={view}", headers={"Authorization": "Bearer bench"})
        answer = connection.getresponse()
        while not stop.is_set():
            answer.readline()
        connection.close()

    readers = [threading.Thread(target=follow, args=(view,), daemon=True) for view in ("overview", "workers")]
    for reader in readers:
        reader.start()
    time.sleep(min(1.0, seconds / 2))
    began, cpu = time.monotonic(), time.process_time()
    time.sleep(seconds)
    used = 100 * (time.process_time() - cpu) / (time.monotonic() - began)
    stop.set()
    return round(used, 2)


@contextmanager
def serving(home: Path) -> Iterator[int]:
    """The console of a collection on a free port; a token opens it."""
    known = Credentials(tokens={"bench": hash_token("bench")})
    access = AccessOptions(lambda: known, b"bench", Console(), Serving(), prefix="/console")
    app = create_console(Sources(home), access)
    with listen("127.0.0.1", 0) as listener:
        server = Server(configuration(lambda: app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


# -- the collection -----------------------------------------------------------------------------------------------


def fill(home: Path, urls: int, hosts: int) -> None:
    """Writes a collection in the middle of a crawl."""
    collection = create_collection(home)
    with closing(open_catalog(collection, create=True)) as catalog:
        run = catalog.begin_run({})
        write = committer(catalog, run)
        fill_urls(catalog, urls, hosts, write)
        for start in range(0, hosts, BATCH):
            write(policies(range(start, min(start + BATCH, hosts))))
        write(Batch(seeds=[address(host, 1) for host in range(min(hosts, 2_000))]))
        catalog.end_run(run, "completed", {})
    fill_samples(collection.catalog)
    with closing(open_catalog(collection, LiveState)) as live:
        fill_workers(live)


def committer(catalog: Catalog, run: int) -> Callable[[Batch], int]:
    return lambda batch: catalog.commit(batch, ARCHIVE, run, {"fetched": 1, "timing": {"fetch": 1.0}})


def fill_urls(catalog: Catalog, urls: int, hosts: int, write: Callable[[Batch], int]) -> None:
    admission, sizes, chance = open_admission(catalog, SCOPE), [0] * hosts, random.Random(3)
    batch = Batch()
    for host in visited_hosts(hosts, urls // NEW_LINKS + 1, seed=7):
        for _ in range(NEW_LINKS):
            sizes[host] += 1
            item = admitted(admission, address(host, sizes[host]))
            batch.admitted.append(item)
            if (settled := outcome(item, chance)) is not None:
                batch.settled.append(settled)
        if len(batch.admitted) >= BATCH:
            write(batch)
            batch = Batch()
    write(batch)


def outcome(item: QueuedUrl, chance: random.Random) -> Settled | None:
    """A few URLs have failed or were refused; the others stay queued."""
    drawn = chance.random()
    if drawn < FAILED:
        return Settled(item, UrlState.FAILED, chance.choice(ERRORS))
    return Settled(item, UrlState.REFUSED, RULE) if drawn < FAILED + REFUSED else None


def policies(chosen: range) -> Batch:
    """Delays, refused links to other hosts, and patterns of suspected traps."""
    batch, now = Batch(), time.time()
    for number in chosen:
        host = host_of(address(number, 1))
        why = ("", "Crawl-delay in robots.txt", "HTTP 429")[number % 3]
        batch.policies[host] = HostPolicy(host, 1.0 + number % 7, why, now + number % 600, number % 4)
        for other in range(10):
            name = f"other{other}.example{number}.net"
            batch.refused[name, Reason.SCOPE_HOST] += 3
            if not other:
                batch.samples.append(Refusal(name, f"https://{name}/", OTHER_HOST, address(number, 1)))
        batch.patterns.append(Pattern(host, "/search?q=*", 30.0 + number % 9, 60, 55, number, 0, 0, 0))
    return batch


def fill_samples(catalog: Path) -> None:
    """Samples of a week, one every 5 seconds, in one transaction."""
    now = time.time()
    names = ("pages", "bytes", "errors", "html", "pdf", "queued_memory", "queued_disk", "under_way", "documents")
    rows = ((now - 5 * step, json.dumps(dict.fromkeys(names, step) | {"freshness": 9.5})) for step in range(WEEK // 5))
    with closing(sqlite3.connect(catalog)) as connection, connection:
        connection.executemany("INSERT INTO samples (at, figures) VALUES (?, ?)", rows)


def fill_workers(live: LiveState) -> None:
    """The rows of 8 workers with 64 visits each."""
    now = time.time()
    visits = [{"url": address(number, 1), "step": "fetch", "seconds": 0.5} for number in range(64)]
    figures = {
        "fetched": 9,
        "bytes": 9,
        "errors": {},
        "committed": now,
        "visits": visits,
        "buffered": 9,
        "under_way": 64,
    }
    for number in range(8):
        live.publish(WorkerRow("bench", Role.CRAWL, number, 1, now, now + 86_400, "running", 0, figures))


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))

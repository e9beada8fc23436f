"""Is anything lost, or fetched twice without need, when a crawl is killed at any moment?"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from fastwarc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from crawl.voyage import catalog_of, environment, reach, segment_rows, sound, start, wait
from testweb import TestWeb, many_hosts

HOSTS, PAGES = 6, 100
COMMIT_PAGES = 4
CONCURRENCY = HOSTS  # one connection a host
# What a worker may have done that nobody acknowledged: requests under way, the batch being written, the one behind it.
# Fetching waits for the disk when a batch holds four commits' worth of pages.
AT_STAKE = CONCURRENCY + 2 * (4 * COMMIT_PAGES + CONCURRENCY)
SETTINGS = environment(
    politeness__delay=0.01,
    fetch__concurrency=CONCURRENCY,
    store__commit_seconds=0.05,
    store__commit_pages=COMMIT_PAGES,
    store__segment_seconds=0.1,
    store__archive_bytes=60_000,
)


class Ordeal:
    """One collection, crawled and killed again and again until it is complete; by one worker, by two, by one..."""

    def __init__(self, web: TestWeb, home: Path, dice: random.Random) -> None:
        self.web, self.home, self.dice = web, home, dice
        self.acknowledged: set[str] = set()
        self.requests = 0  # looked at so far
        self.workers = dice.choice([1, 2])
        self.kills = 0
        self.may_repeat = 0  # requests that all kills together may have cost

    def run(self, *, kill: bool) -> bool:
        """Crawl, to the end or to a sudden one; returns whether it came to its end."""
        self.workers = 3 - self.workers
        command = ["crawl", "http://h0001.test/", "--home", str(self.home), "--scope-host", ".*", "--json"]
        command += ["--workers", str(self.workers)]
        child = start(*command, *reach(self.web), env=SETTINGS, start_new_session=True)
        if kill:
            more = self.dice.choice([0, self.dice.randrange(1, 80)])
            target = len(self.web.log.entries()) + more
            while len(self.web.log.entries()) < target and child.poll() is None:
                time.sleep(0.001)
            time.sleep(self.dice.uniform(0, 0.05) if more else self.dice.uniform(0, 0.6))
            self.end(child)
        outcome = wait(child)  # of the workers too: they hold the same pipes
        finished = outcome.code == 0
        assert finished or (kill and outcome.code == -9), outcome
        if not finished:
            self.kills += 1
            self.may_repeat += self.workers * AT_STAKE
        self.settle()
        self.look(finished)
        return finished

    def end(self, child: subprocess.Popen[str]) -> None:
        """Kill the process that was started, and its workers with it or by it."""
        if self.dice.random() < 0.5:
            child.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)

    def settle(self) -> None:
        """Let the web read what a run sent just before its end, or it would seem to come from the next."""
        calm = 0
        while calm < 5:
            seen = len(self.web.log.entries())
            time.sleep(0.005)
            still_open = any(connection.closed is None for connection in self.web.log.connections())
            calm = 0 if still_open or len(self.web.log.entries()) > seen else calm + 1

    def look(self, finished: bool) -> None:
        """Compare what was requested with what is acknowledged; on a copy, for the next run must find all untouched."""
        asked = [entry.url for entry in self.web.log.entries()[self.requests :]]
        self.requests += len(asked)
        again = self.acknowledged.intersection(asked)
        assert not again, f"acknowledged, and yet requested again: {sorted(again)[:3]}"
        assert max(Counter(asked).values(), default=0) <= 1, "requested twice by one run"
        copy = self.home.with_name("copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.home, copy) if self.home.exists() else copy.mkdir()
        if (copy / "crawl.db").exists():
            sound(copy)
            self.acknowledged = settled(copy)
        lost = set(asked) - self.acknowledged
        assert len(lost) <= (0 if finished else self.workers * AT_STAKE), f"{len(lost)} requests were not acknowledged"


def settled(home: Path) -> set[str]:
    """Every URL that has left the queue, and every robots.txt that is known."""
    with catalog_of(home) as catalog:
        urls = {url for url in catalog.known_urls() if (row := catalog.url(url)) and row["state"]}
        origins = [f"http://h{number:04}.test" for number in range(1, HOSTS + 1)]
        return urls | {f"{origin}/robots.txt" for origin in origins if catalog.robots(origin)}


def assert_complete(home: Path, expected: dict[str, str]) -> None:
    findings = sound(home)
    assert (findings.checked["records"], findings.checked["pages"]) == (len(expected), len(expected))
    rows = segment_rows(home, "pages")
    assert len(rows) == len(expected)
    assert {row["url"]: row["title"] for row in rows} == expected
    with catalog_of(home) as catalog:
        assert catalog.counters() == catalog.recount()
        assert catalog.counters()["done"] == len(expected)
    by_warcio, by_fastwarc = Counter[str](), Counter[str]()
    for file in sorted((home / "archive").iterdir()):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type == "response":
                    assert record.content_stream().read().endswith(b"</html>\n")
                    by_warcio[record.rec_headers.get_header("WARC-Target-URI")] += 1
        with file.open("rb") as stream:
            for record in FastIterator(stream):
                if record.headers["WARC-Type"] == "response":
                    by_fastwarc[record.headers["WARC-Target-URI"]] += 1
    assert by_warcio == by_fastwarc == dict.fromkeys(expected, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "kills"), [(0, 10), (1, 10), pytest.param(2, 1000, marks=[pytest.mark.long], id="long")]
)
def test_a_crawl_that_is_killed_again_and_again_loses_nothing(tmp_path: Path, turn: int, kills: int) -> None:
    seed = int(os.environ.get("TEST_SEED", time.time_ns() % 10**9)) + turn
    print(f"TEST_SEED={seed - turn}")  # noqa: T201
    dice = random.Random(seed)
    sites = many_hosts(HOSTS, PAGES, seed=seed)
    expected = {url: site.pages[url.removeprefix(f"http://{site.host}")].title for site in sites for url in site.urls()}
    killed = 0
    while killed < kills:
        home = tmp_path / f"home-{killed}"
        with TestWeb(sites) as web:
            ordeal = Ordeal(web, home, dice)
            while not ordeal.run(kill=killed + ordeal.kills < kills):
                pass
            killed += ordeal.kills
            fetched = web.log.fetched()
        assert set(fetched) == set(expected)
        assert max(fetched.values()) <= 1 + ordeal.kills
        assert sum(fetched.values()) - len(expected) <= ordeal.may_repeat
        assert_complete(home, expected)
        shutil.rmtree(home)

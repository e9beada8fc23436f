"""Is anything lost, or fetched twice without need, when a crawl is killed at any moment?"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from crawl.crawling import environment, reach, start, wait
from crawl.kill_checks import KillChecks
from testweb import Site, TestWeb, many_hosts

HOSTS, PAGES = 6, 100
COMMIT_PAGES = 4
CONCURRENCY = HOSTS  # one connection a host
# What a worker may have done without acknowledging it: requests under way, the batch being written, the one behind it.
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


class Killings(KillChecks):
    """One collection, crawled and killed again and again until it is complete; by one worker, by two, by one..."""

    def __init__(self, web: TestWeb, sites: Sequence[Site], home: Path, dice: random.Random) -> None:
        super().__init__(web, sites, home)
        self.dice = dice
        self.workers = dice.choice([1, 2])
        self.kills = 0
        self.may_repeat = 0  # requests that all kills together may have cost

    def run(self, *, kill: bool) -> bool:
        """Crawl to the end, or kill the crawl; returns whether it came to its end."""
        self.workers = 3 - self.workers
        options = ["--home", str(self.home), "--scope-host", ".*", "--workers", str(self.workers), "--json"]
        command = ["crawl", *self.seeds("http://h0001.test/"), *options]
        child = start(*command, *reach(self.web), env=SETTINGS, start_new_session=True)
        if kill:
            self.wait_a_while(child)
            self.end(child)
        outcome = wait(child)  # and for its workers, who hold the same pipes
        finished = outcome.code == 0
        assert finished or (kill and outcome.code == -9), outcome
        at_stake = 0 if finished else self.workers * AT_STAKE
        self.kills += not finished
        self.may_repeat += at_stake
        self.look(at_stake)
        return finished

    def wait_a_while(self, child: subprocess.Popen[str]) -> None:
        """Let so many requests pass, and some time."""
        more = self.dice.choice([0, self.dice.randrange(1, 80)])
        target = len(self.web.log.entries()) + more
        while len(self.web.log.entries()) < target and child.poll() is None:
            time.sleep(0.001)
        time.sleep(self.dice.uniform(0, 0.05) if more else self.dice.uniform(0, 0.6))

    def end(self, child: subprocess.Popen[str]) -> None:
        """Kill the supervisor, which ends its workers, or the workers as well."""
        if self.dice.random() < 0.5:
            child.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turn", "kills"), [(0, 10), (1, 10), pytest.param(2, 1000, marks=[pytest.mark.long], id="long")]
)
def test_a_crawl_that_is_killed_many_times_loses_nothing(tmp_path: Path, turn: int, kills: int) -> None:
    seed = int(os.environ.get("TEST_SEED", time.time_ns() % 10**9)) + turn
    print(f"TEST_SEED={seed - turn}")  # noqa: T201
    dice = random.Random(seed)
    sites = many_hosts(HOSTS, PAGES, seed=seed)
    killed = 0
    while killed < kills:
        home = tmp_path / f"home-{killed}"
        with TestWeb(sites) as web:
            checks = Killings(web, sites, home, dice)
            while not checks.run(kill=killed + checks.kills < kills):
                pass
            killed += checks.kills
            fetched = web.log.fetched()
        assert set(fetched) == set(checks.expected)
        assert max(fetched.values()) <= 1 + checks.kills
        assert sum(fetched.values()) - len(checks.expected) <= checks.may_repeat
        checks.assert_complete()
        shutil.rmtree(home)

"""Is anything lost, or fetched twice without need, when children of `periplus up` are killed at random?"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, environment, sound
from live.running import Up, until, up
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.slow

HOSTS, PAGES, KILLS = 6, 60, 20
COMMIT_PAGES = 4
AT_STAKE = HOSTS + 2 * (4 * COMMIT_PAGES + HOSTS)  # as in tests/crawl/test_kill.py: requests that a kill may cost
SETTINGS = environment(
    politeness__delay=0.25,
    fetch__concurrency=HOSTS,
    store__commit_seconds=0.05,
    store__commit_pages=COMMIT_PAGES,
    store__segment_seconds=0.5,
)


def test_children_killed_at_random_are_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    seed = int(os.environ.get("TEST_SEED", random.randrange(1 << 30)))
    print(f"TEST_SEED={seed}")  # noqa: T201
    dice, home, sites = random.Random(seed), tmp_path / "home", many_hosts(HOSTS, PAGES)
    expected = {url for site in sites for url in site.urls()}
    kills: Counter[str] = Counter()
    with TestWeb(sites) as web, up(web, home, "http://h0001.test/", "--scope-host", ".*", env=SETTINGS) as running:
        while kills.total() < KILLS:
            time.sleep(dice.uniform(0.2, 2.0))
            kill_one(running, dice, kills)
        until(lambda: running.documents() == len(expected), 600)
        ended = running.stop()
        requests = Counter(entry.url for entry in web.log.entries() if not entry.url.endswith("/robots.txt"))
    assert ended.code == 0, ended.err
    assert sum(ended.json["restarts"].values()) == KILLS, ended.json
    assert set(requests) == expected
    assert requests.total() - len(requests) <= kills["crawl"] * AT_STAKE
    findings = sound(home)
    assert (findings.checked["records"], findings.checked["pages"]) == (len(expected), len(expected))
    with catalog_of(home) as catalog:
        assert catalog.counters() == catalog.recount()


def kill_one(running: Up, dice: random.Random, kills: Counter[str]) -> None:
    """Kill a child that runs; it is restarted after a pause that the supervisor chooses."""
    name = dice.choice(["crawl", "builder", "site"])
    with suppress(ProcessLookupError):
        pid = running.children()[name]
        os.kill(pid, signal.SIGKILL)
        kills[name] += 1
        until(lambda: running.children()[name] != pid)

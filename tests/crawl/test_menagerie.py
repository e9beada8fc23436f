"""Does a crawl among hostile servers come to its end, with a reason for each, and at nobody else's cost?"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from crawl.voyage import catalog_of, environment, reach, sound, start
from periplus.model import UrlState
from testweb import Site, TestWeb, chain
from testweb.menagerie import Beast, menagerie

FRIENDS = [f"friend{number}.test" for number in range(20)]
DELAY = 1.0  # as delivered
CAP = 40  # URLs a domain
MEMORY = 1_000  # megabytes; bodies at their caps, as many as may be under way at once


def friendly(pages: int) -> list[Site]:
    return [chain(host, pages) for host in FRIENDS]


def crawled(web: TestWeb, home: Path, seeds: list[str]) -> int:
    """Crawl in a process of its own, to its end; returns the most memory it had, in megabytes."""
    (home / "seeds").write_text("\n".join(seeds))
    settings = {
        "politeness__delay": DELAY,
        "scope__hosts": ".*",
        "scope__pages_per_domain": CAP,
        "fetch__attempts": 2,
        "fetch__timeout": 5,
        "fetch__retry_seconds": 0.1,
    }
    child = start("crawl", "--seeds", home / "seeds", "--home", home / "c", *reach(web), env=environment(**settings))
    assert child.stdout is not None
    assert child.stderr is not None
    said = child.stdout.read() + child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    child.stderr.close()
    assert child.returncode == 0, said
    return used.ru_maxrss // 1024


def rate(web: TestWeb, pages: int) -> float:
    """Pages a second that the friendly hosts were asked for, all together."""
    logs = [web.log.entries(host) for host in FRIENDS]
    assert {len(entries) for entries in logs} == {pages + 1}
    return sum(pages / (entries[-1].started - entries[0].started) for entries in logs)


def end_of(home: Path, beast: Beast) -> str:
    """The reason with which a front page stands where it stands."""
    with catalog_of(home) as catalog:
        row = catalog.url(beast.seed)
        policy = catalog.policy(beast.seed.split("/")[2])
    assert row is not None, beast.name
    waits_for = policy.why.partition(" ")[0] if policy is not None and row["state"] == UrlState.QUEUED else ""
    return waits_for or str(row["reason"])


@pytest.mark.slow
def test_hostile_servers_end_with_a_reason_and_friendly_ones_are_served_as_ever(tmp_path: Path) -> None:
    # Something else on the machine may have been in the way of the first try.
    assert any(share_of_friends(tmp_path / name) >= 0.95 for name in ("first", "second"))


def share_of_friends(folder: Path) -> float:
    """The rate of friendly hosts beside hostile ones, as a part of their rate alone."""
    beasts = menagerie()
    assert len(beasts) >= 40
    friends = [f"http://{host}/" for host in FRIENDS]
    for name in ("before", "together", "after"):
        (folder / name).mkdir(parents=True)

    def alone(when: str) -> float:
        with TestWeb(friendly(5)) as web:
            crawled(web, folder / when, friends)
            return rate(web, 5)

    before = alone("before")
    with TestWeb([*friendly(40), *(beast.site for beast in beasts)]) as web:
        began = time.monotonic()
        memory = crawled(web, folder / "together", [*friends, *(beast.seed for beast in beasts)])
        assert time.monotonic() - began < 60
        together = rate(web, 40)
        asked = Counter(entry.host.split(".")[-2] for entry in web.log.entries() if entry.path != "/robots.txt")
    home = folder / "together" / "c"
    ends = {beast.name: end_of(home, beast) for beast in beasts}
    assert {beast.name: ends[beast.name] for beast in beasts if ends[beast.name] not in beast.ends} == {}
    assert memory < MEMORY
    assert max(asked.values()) <= 2 * CAP  # each URL is tried twice at most
    sound(home)
    return together / min(before, alone("after"))  # the machine may have become slower meanwhile

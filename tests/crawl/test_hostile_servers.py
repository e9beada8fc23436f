"""Does a crawl of hostile servers end, with a reason for each, without delaying other hosts?"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, sound
from crawl.hostile_crawl import FRIENDS, SEEDS, SETTINGS, crawl_apart, friendly
from periplus.model import UrlState
from testweb import TestWeb
from testweb.menagerie import Beast, menagerie

DELAY = 0.25  # seconds
PAGES = 40  # of a friendly host: 10 seconds, longer than two timeouts would block everything for
CAP = 40  # URLs a domain
MEMORY = 1_000  # megabytes; bodies at their caps, as many as may be under way at once
HUNG = 0.9 * SETTINGS["fetch__timeout"]  # seconds; a request that takes longer ended with the timeout


def end_of(home: Path, beast: Beast) -> str:
    """The reason code of a front page."""
    with catalog_of(home) as catalog:
        row = catalog.url(beast.seed)
        policy = catalog.policy(beast.seed.split("/")[2])
    assert row is not None, beast.name
    waits_for = policy.why.partition(" ")[0] if policy is not None and row["state"] == UrlState.QUEUED else ""
    return waits_for or str(row["reason"])


def requests_beside_hung_ones(web: TestWeb) -> list[int]:
    """For each request that ran into the timeout: the requests that the slowest friendly host had meanwhile.

    Only requests that ended while every friendly host still had pages left count.
    """
    friends = {host: [entry.started for entry in web.log.entries(host)] for host in FRIENDS}
    done = min(times[-1] for times in friends.values())
    hung = [
        (entry.started, entry.finished)
        for entry in web.log.entries()
        if entry.finished is not None and entry.finished - entry.started > HUNG and entry.finished < done
    ]
    return [min(sum(begin < time < end for time in times) for times in friends.values()) for begin, end in hung]


@pytest.mark.slow
def test_hostile_servers_end_with_a_reason_and_friendly_hosts_are_crawled_meanwhile(tmp_path: Path) -> None:
    beasts = menagerie()
    assert len(beasts) >= 40
    with TestWeb([*friendly(PAGES), *(beast.site for beast in beasts)]) as web:
        began = time.monotonic()
        seeds = [*SEEDS, *(beast.seed for beast in beasts)]
        memory = crawl_apart(web, tmp_path, seeds, politeness__delay=DELAY, scope__pages_per_domain=CAP)
        assert time.monotonic() - began < 60
        paths = {host: web.log.paths(host) for host in FRIENDS}
        assert {len(set(found)) for found in paths.values()} == {PAGES + 1}
        repeated = {host: len(found) - PAGES - 1 for host, found in paths.items()}
        assert max(repeated.values()) <= 2, (
            "requests under way when a worker is replaced, or timed out, may be repeated"
        )
        beside = requests_beside_hung_ones(web)
        asked = Counter(entry.host.split(".")[-2] for entry in web.log.entries() if entry.path != "/robots.txt")
    ends = {beast.name: end_of(tmp_path / "c", beast) for beast in beasts}
    assert {beast.name: ends[beast.name] for beast in beasts if ends[beast.name] not in beast.ends} == {}
    assert len(beside) >= 3, "servers that never answer were fetched together with friendly ones"
    assert min(beside) >= 5, "each friendly host goes on while a hostile one hangs: 20 requests on a quiet machine"
    assert 0 < memory < MEMORY
    assert max(asked.values()) <= 2 * CAP  # each URL is tried twice at most
    sound(tmp_path / "c")

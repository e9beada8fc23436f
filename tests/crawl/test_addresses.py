"""Are the limits of an IP address kept, however many hosts it has?"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import run_crawl, settings_for, sound
from periplus.crawl.run import Request, crawl
from testweb import Page, Site, TestWeb, hostile

LIMIT, DELAY = 3, 0.25
JITTER = 0.15  # seconds by which the server may notice a request late, on a busy machine
CARE: dict[str, Any] = {
    "politeness__address_limits": [{"range": "127.0.0.0/8", "connections": LIMIT, "delay": DELAY}],
    "fetch__concurrency": 512,
}


def sharing_hosts(hosts: int, addresses: int) -> tuple[list[Site], dict[str, float]]:
    """Hosts that share IP addresses, each with its own delay and disallowed paths; some pages are slow."""
    seed = random.randrange(1 << 32)
    sys.stdout.write(f"random.Random({seed})\n")  # shown when the test fails
    chance = random.Random(seed)
    sites, delays = [], {}
    for number in range(hosts):
        name, place = f"www.h{number:04}.test", number % addresses
        delays[name] = round(chance.choice([0.0, chance.uniform(0.01, 0.5)]), 2)
        pages = {
            "/": Page(links=["/a", "/secret/1", "/b", "/secret/2"], delay=chance.choice([0.0, 0.6])),
            "/a": Page(links=["/secret/3"], delay=chance.choice([0.0, 0.6])),
            "/b": Page(),
            **{f"/secret/{door}": Page() for door in (1, 2, 3)},
        }
        robots = f"User-agent: *\nDisallow: /secret/\nCrawl-delay: {delays[name]}\n"
        sites.append(Site(name, pages, robots, address=f"127.0.{1 + place // 250}.{1 + place % 250}"))
    return sites, delays


def check_hosts(web: TestWeb, delays: dict[str, float]) -> None:
    """Every host, by the clock of the server: its delay is kept, with one connection at a time."""
    starts: dict[str, list[float]] = defaultdict(list)
    users: dict[str, set[int]] = defaultdict(set)
    for entry in web.log.entries():
        starts[entry.host].append(entry.started)
        users[entry.host].add(entry.connection)
        assert not entry.path.startswith("/secret/"), entry.url
    connections = {one.number: one for one in web.log.connections()}
    for host, delay in delays.items():
        assert len(starts[host]) == 4, host
        assert min(later - earlier for earlier, later in pairwise(starts[host])) >= delay, host
        for earlier, later in pairwise(sorted(users[host])):
            closed = connections[earlier].closed
            assert closed is not None, host
            assert closed <= connections[later].opened + JITTER, host


def check_addresses(web: TestWeb) -> None:
    most = [web.log.max_connections_at(address) for address in web.log.addresses()]
    assert max(most) == LIMIT  # it is used, and never exceeded
    assert min(gap for address in web.log.addresses() for gap in web.log.gaps_at(address)) >= DELAY - JITTER


@pytest.mark.slow
def test_delays_are_kept_for_a_thousand_hosts_on_two_hundred_ip_addresses(tmp_path: Path) -> None:
    sites, delays = sharing_hosts(1000, 200)
    with TestWeb(sites) as web:
        result = run_crawl(web, tmp_path, *(f"http://{site.host}/" for site in sites), **CARE)
        check_hosts(web, delays)
        check_addresses(web)
        assert len(web.log.addresses()) == 200
    assert (result.summary["fetched"], result.summary["refused"]) == (3000, {"robots": 3000})
    sound(tmp_path)


@pytest.mark.slow
def test_the_limits_of_an_ip_address_hold_for_all_workers_together(tmp_path: Path) -> None:
    sites, delays = sharing_hosts(32, 4)
    with TestWeb(sites) as web:
        seeds = [f"http://{site.host}/" for site in sites]
        result = crawl(Request(tmp_path, settings_for(web, **CARE), seeds, workers=3))
        check_hosts(web, delays)
        check_addresses(web)
    assert result.summary["fetched"] == 96
    sound(tmp_path)


def test_a_busy_ip_address_delays_no_host_elsewhere(tmp_path: Path) -> None:
    """Six hosts wait for one address, and only four requests may be under way."""
    sharing = [Site(f"c{number}.test", {}, address="127.0.9.1") for number in range(6)]
    pages = {f"/{number}": Page() for number in range(60)}
    free = Site("free.test", {"/": Page(links=list(pages)), **pages})
    with TestWeb([*sharing, free]) as web:
        late = hostile.held_until(lambda: web.log.count("free.test") == len(pages) + 2, Page())
        for site in sharing:
            site.pages["/"] = Page(handler=late)
        limits = [{"range": "127.0.9.0/24", "connections": 1, "delay": 0.02}]
        seeds = [f"http://{site.host}/" for site in [*sharing, free]]
        result = run_crawl(
            web, tmp_path, *seeds, politeness__address_limits=limits, fetch__concurrency=4, fetch__timeout=30.0
        )
        done = web.log.entries("free.test")[-1].started
        answers = [entry.finished for entry in web.log.entries() if entry.host != "free.test" and entry.path == "/"]
        assert len(answers) == 6
        assert all(finished is not None and finished > done for finished in answers)
        assert web.log.max_connections_at("127.0.9.1") == 1
    assert result.summary["fetched"] == 67


def test_ip_addresses_allowed_by_the_user_have_no_limits(tmp_path: Path) -> None:
    sites = [Site(f"h{number}.test", {"/": Page(delay=0.3)}) for number in range(10)]
    with TestWeb(sites) as web:
        run_crawl(web, tmp_path, *(f"http://{site.host}/" for site in sites))
        assert web.log.max_concurrent() == 10


def test_the_delay_of_an_ip_address_is_kept_from_round_to_round(tmp_path: Path) -> None:
    """Two hosts share the IP address, so that only its delay can make the second round wait."""
    first = Site("a.test", {"/": Page(links=["http://b.test/"])}, address="127.0.9.1")
    second = Site("b.test", {"/": Page()}, address="127.0.9.1")
    limits = [{"range": "127.0.9.0/24", "connections": 1, "delay": 0.8}]
    with TestWeb([first, second]) as web:
        settings = settings_for(web, scope__hosts=[".*"], politeness__address_limits=limits)
        result = crawl(Request(tmp_path, settings, ["http://a.test/"], rounds=2))
        assert [entry.host for entry in web.log.entries()] == ["a.test", "a.test", "b.test", "b.test"]
        assert min(web.log.gaps_at("127.0.9.1")) >= 0.8 - JITTER
    assert [one["fetched"] for one in result.summary["rounds"]] == [1, 1]

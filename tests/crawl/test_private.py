"""Can any page, name or file on the web make the crawler touch this machine?

A canary listens on loopback addresses that are not allowed. No content of the web may cause a connection to it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import run_crawl, sound, state_of
from fetch.test_ssrf_guard import spelled
from periplus.crawl.run import Result
from periplus.fetch import resolver
from periplus.model import UrlState
from periplus.url import Canonicalizer
from testweb import Page, Site, TestWeb

HERE = "127.0.5.1"  # where the test web lives: the only private address that may be dialled
LOOPBACK = ["127.0.0.1", "127.1.2.3", "127.0.5.2", "0.0.0.0"]
LITERALS = [*(host for ip in LOOPBACK for host in spelled(ip)), "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "localhost"]
IN_HEADERS = [host for host in LITERALS if host.isascii()]  # others are no addresses there
NAMED = [*LOOPBACK, "::1", "::", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "10.0.0.1", "169.254.169.254"]


class Canary:
    """Counts who comes to loopback, by any door."""

    def __init__(self) -> None:
        self.visitors: list[object] = []
        self._doors = [socket.create_server(("127.0.0.1", 0))]
        self.port = self._doors[0].getsockname()[1]
        self._doors += [socket.create_server((ip, self.port)) for ip in ("127.1.2.3", "127.0.5.2")]
        if socket.has_dualstack_ipv6():
            self._doors.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for door in self._doors:
            threading.Thread(target=self._watch, args=(door,), daemon=True).start()

    def _watch(self, door: socket.socket) -> None:
        while True:
            try:
                visitor, address = door.accept()
            except OSError:
                return
            self.visitors.append(address)
            visitor.close()

    def close(self) -> None:
        for door in self._doors:
            door.shutdown(socket.SHUT_RDWR)
            door.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    watching = Canary()
    yield watching
    watching.close()


@contextmanager
def living_here(*sites: Site) -> Iterator[TestWeb]:
    with TestWeb([Site(site.host, site.pages, site.robots, address=HERE) for site in sites]) as web:
        yield web


def sail_carefully(web: TestWeb, home: Path, *seeds: str, **flags: Any) -> Result:
    """Only the sites of the test web are known, and only their address may be dialled."""
    known = [rule for rule in web.connect_to if not rule.startswith(":")]
    flags |= {"fetch__allow_private": False, "fetch__private_addresses": [HERE], "fetch__connect_to": known}
    return run_crawl(web, home, *seeds, scope__hosts=[".*"], identity__contact="https://example.org/", **flags)


def refused(home: Path, urls: list[str]) -> None:
    canonical = Canonicalizer().canonical
    for url in urls:
        address = canonical(url)
        assert address is not None, url
        assert state_of(home, address) == (UrlState.REFUSED, "private_address"), url


def test_the_canary_notices_a_connection(canary: Canary) -> None:
    socket.create_connection(("127.1.2.3", canary.port)).close()
    for _ in range(100):
        if canary.visitors:
            break
        threading.Event().wait(0.02)
    assert len(canary.visitors) == 1


def test_no_link_sitemap_or_redirect_leads_to_this_machine(canary: Canary, tmp_path: Path) -> None:
    """Every spelling of every address, by every way in which a page can name another."""
    hosts = {"a": LITERALS, "b": IN_HEADERS, "c": LITERALS, "d": LITERALS}
    ways = {way: [f"http://{host}:{canary.port}/{way}/{n}" for n, host in enumerate(hosts[way])] for way in hosts}
    listed = "".join(f"<url><loc>{url.replace('&', '&amp;')}</loc></url>" for url in ways["c"])
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    moves = {f"/{n}": Page(redirect=url) for n, url in enumerate(ways["b"])}
    sites = [
        Site("links.test", {"/": Page(links=ways["a"])}),
        Site("moves.test", {"/": Page(links=list(moves)), **moves}),
        Site(
            "maps.test",
            {"/": Page(), "/s.xml": Page(body=sitemap, content_type="application/xml")},
            "\n".join(["Sitemap: http://maps.test/s.xml", *(f"Sitemap: {url}" for url in ways["d"])]),
        ),
    ]
    with living_here(*sites) as web:
        sail_carefully(web, tmp_path, *(f"http://{site.host}/" for site in sites))
        assert web.log.count("moves.test") == len(IN_HEADERS) + 2
    assert canary.visitors == []
    for way in "abc":
        refused(tmp_path, ways[way])
    assert sum(map(len, ways.values())) >= 350
    sound(tmp_path)


def test_no_seed_leads_to_this_machine(canary: Canary, tmp_path: Path) -> None:
    seeds = [f"http://{host}:{canary.port}/" for host in dict.fromkeys(LITERALS)]
    with living_here() as web:
        result = sail_carefully(web, tmp_path, *seeds)
    assert canary.visitors == []
    assert set(result.summary["refused"]) == {"private_address"}
    assert result.failure is not None


def test_no_robots_file_leads_to_this_machine(canary: Canary, tmp_path: Path) -> None:
    targets = [f"http://{host}:{canary.port}/robots.txt" for host in IN_HEADERS]
    sites = [Site(f"r{n}.test", {"/": Page()}, Page(redirect=url)) for n, url in enumerate(targets)]
    with living_here(*sites) as web:
        sail_carefully(web, tmp_path, *(f"http://{site.host}/" for site in sites))
        assert {entry.path for entry in web.log.entries()} == {"/robots.txt"}
    assert canary.visitors == []
    refused(tmp_path, [f"http://{site.host}/" for site in sites])


def test_no_name_leads_to_this_machine(canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {f"n{number}.test": ip for number, ip in enumerate(NAMED)}
    monkeypatch.setattr(resolver, "_query_system", lambda host: [addresses[host]])
    urls = [f"http://{name}:{canary.port}/" for name in addresses]
    with living_here(Site("links.test", {"/": Page(links=urls)})) as web:
        sail_carefully(web, tmp_path, "http://links.test/")
    assert canary.visitors == []
    refused(tmp_path, urls)


@pytest.mark.parametrize("ip", ["127.0.0.1", "::1", "::ffff:127.1.2.3"])
def test_a_name_that_later_resolves_to_another_ip_address_is_still_checked(
    canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ip: str
) -> None:
    """DNS rebinding: the first answers are harmless, the later ones are not, and no answer is remembered."""
    questions = count()
    monkeypatch.setattr(resolver, "_TTL", 0.0)
    monkeypatch.setattr(resolver, "_query_system", lambda _: [HERE if next(questions) < 2 else ip])
    pages = {"/": Page(links=[f"http://r.test:{canary.port}/z"])}
    with living_here(Site("r.test", pages)) as web:
        (rule,) = [rule for rule in web.connect_to if rule.startswith("r.test:80:")]
        settings: dict[str, Any] = {
            "fetch__allow_private": False,
            "fetch__private_addresses": [HERE],
            "fetch__connect_to": [f"r.test:80::{rule.rpartition(':')[2]}"],  # the port, while the name is looked up
        }
        run_crawl(web, tmp_path, "http://r.test/", identity__contact="https://example.org/", **settings)
        assert web.log.paths("r.test") == ["/robots.txt", "/"]
    assert canary.visitors == []
    refused(tmp_path, [f"http://r.test:{canary.port}/z"])

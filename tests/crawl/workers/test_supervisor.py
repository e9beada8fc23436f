"""Do several workers crawl the same pages as one, as politely?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import (
    Outcome,
    catalog_of,
    environment,
    periplus,
    reach,
    segment_rows,
    settings_for,
    sound,
    start,
    state_of,
    wait,
)
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Progress, Request, crawl
from periplus.errors import DiskFull
from periplus.model import UrlState
from periplus.store.shares import SHARES, share_of
from testweb import Page, Site, TestWeb, many_hosts, mesh

pytestmark = pytest.mark.slow
HOSTS, PAGES = 10, 30
SEED = "http://h0001.test/"


@pytest.fixture
def sites() -> list[Site]:
    return many_hosts(HOSTS, PAGES)


@pytest.fixture
def web(sites: list[Site]) -> Iterator[TestWeb]:
    with TestWeb(sites) as running:
        yield running


def command(web: TestWeb, home: Path, *more: str, workers: int = 2, seeds: tuple[str, ...] = (SEED,)) -> list[Any]:
    scope = ["--scope-host", ".*", "--json", "--workers", str(workers)]
    return ["crawl", *seeds, "--home", home, *scope, *reach(web), *more]


def everything(sites: list[Site]) -> dict[str, int]:
    return {url: 1 for site in sites for url in site.urls()}


def archives(home: Path) -> dict[int, int]:
    """Bytes in the archive of each worker."""
    with catalog_of(home) as catalog:
        return {
            worker: sum(file.committed for file in catalog.archives(worker)) for worker in catalog.archive_workers()
        }


@pytest.mark.parametrize("workers", [2, 4])
def test_several_workers_fetch_every_page_exactly_once(
    web: TestWeb, sites: list[Site], tmp_path: Path, workers: int
) -> None:
    figures = periplus(*command(web, tmp_path / "c", workers=workers)).json
    assert web.log.fetched() == everything(sites)
    assert (figures["fetched"], figures["known_urls"], figures["queued"]) == (HOSTS * PAGES, HOSTS * PAGES, 0)
    assert figures["errors"] == {}
    assert sound(tmp_path / "c").checked["pages"] == HOSTS * PAGES
    assert {row["url"] for row in segment_rows(tmp_path / "c", "pages")} == set(everything(sites))
    assert len(archives(tmp_path / "c")) == workers


def test_a_host_sees_one_connection_and_its_delay_with_several_workers(web: TestWeb, tmp_path: Path) -> None:
    periplus(*command(web, tmp_path / "c", "--delay", "0.03", workers=3), env=environment())
    for number in range(1, HOSTS + 1):
        host = f"h{number:04}.test"
        assert web.log.max_connections(host) == 1
        assert min(web.log.gaps(host)) >= 0.03


def test_a_page_budget_is_kept_to_the_page(web: TestWeb, sites: list[Site], tmp_path: Path) -> None:
    figures = periplus(*command(web, tmp_path / "c", "--pages", "101", workers=3)).json
    assert figures["fetched"] == 101
    assert sum(web.log.fetched().values()) == 101
    again = periplus(*command(web, tmp_path / "c", "--pages", "50", workers=2, seeds=())).json
    assert again["fetched"] == 50
    periplus(*command(web, tmp_path / "c", workers=1, seeds=()))
    assert web.log.fetched() == everything(sites), "the next run loses nothing and fetches nothing twice"
    sound(tmp_path / "c")


def names_of(worker: int, workers: int, number: int) -> list[str]:
    """Host names that belong to one worker at first."""
    names = (f"site{n}.test" for n in count())
    return [name for name, _ in zip((n for n in names if share_of(n) % workers == worker), range(number), strict=False)]


def test_an_idle_worker_is_given_domains_of_a_busy_one(tmp_path: Path) -> None:
    names = names_of(0, 2, 6)
    sites = [mesh(name, 150) for name in names]
    with TestWeb(sites) as web:
        seeds = tuple(f"http://{name}/" for name in names)
        periplus(*command(web, tmp_path / "c", seeds=seeds))
        assert web.log.fetched() == everything(sites)
        assert all(web.log.max_connections(name) == 1 for name in names)
    assert SHARES % 2 == 0, "the names above are chosen for an even number of shares"
    assert min(archives(tmp_path / "c").values()) > 10_000, "the second worker has helped"
    sound(tmp_path / "c")


def test_redirects_into_the_domain_of_another_worker_are_followed(tmp_path: Path) -> None:
    (here,), (there,) = names_of(0, 2, 1), names_of(1, 2, 1)
    target = f"http://{there}/new"
    pages = {"/": Page(links=["/old"]), "/old": Page(status=301, headers={"Location": target})}
    with TestWeb([Site(here, pages), Site(there, {"/new": Page("Moved")})]) as web:
        periplus(*command(web, tmp_path / "c", seeds=(f"http://{here}/",)))
    assert state_of(tmp_path / "c", target) == (UrlState.DONE, "ok")
    sound(tmp_path / "c")


def test_a_seed_that_redirects_to_another_workers_domain_extends_the_scope_of_all(tmp_path: Path) -> None:
    (here,), (there,) = names_of(0, 2, 1), names_of(1, 2, 1)
    moved = Site(here, {"/": Page(status=301, headers={"Location": f"http://{there}/"})})
    with TestWeb([moved, mesh(there, 20)]) as web:
        options = ["--home", str(tmp_path / "c"), "--workers", "2", "--json", *reach(web)]
        figures = periplus("crawl", f"http://{here}/", *options).json
    assert figures["fetched"] == 20


def test_ctrl_c_lets_every_worker_finish_what_is_under_way(web: TestWeb, sites: list[Site], tmp_path: Path) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.02"), start_new_session=True)
    web.log.wait_for(40)
    os.killpg(child.pid, signal.SIGINT)  # as a terminal does
    outcome = wait(child)
    assert outcome.code == 130, outcome
    sound(tmp_path / "c")
    periplus(*command(web, tmp_path / "c", seeds=()))
    assert web.log.fetched() == everything(sites)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_crawl_in_the_background_ignores_ctrl_c_and_drains_when_it_is_terminated(
    web: TestWeb, sites: list[Site], tmp_path: Path, workers: int
) -> None:
    """A shell starts background jobs of a script with SIGINT ignored."""
    words = [str(word) for word in command(web, tmp_path / "c", "--delay", "0.02", workers=workers)]
    shell = ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", sys.executable, "-m", "periplus", *words]
    pipe = subprocess.PIPE
    child = subprocess.Popen(shell, env=environment(), stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    web.log.wait_for(40)
    os.killpg(child.pid, signal.SIGINT)
    web.log.wait_for(len(web.log.entries()) + 60)  # it goes on
    child.terminate()
    outcome = wait(child)
    assert outcome.code == 130, outcome
    assert outcome.complaint.startswith("periplus: stopped by the user.")
    sound(tmp_path / "c")
    periplus(*command(web, tmp_path / "c", seeds=()))
    assert web.log.fetched() == everything(sites)


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_when_the_supervisor_fails_its_workers_end(web: TestWeb, tmp_path: Path) -> None:
    def broken(_: Progress) -> None:
        raise DiskFull("no space left to write")

    settings = settings_for(web, scope__hosts=[".*"], politeness__delay=0.05)
    request = Request(tmp_path / "c", settings, [SEED], Budget(seconds=20), workers=2)
    others = set(children_of(os.getpid()))
    began = time.monotonic()
    with pytest.raises(DiskFull):
        crawl(request, broken)
    assert time.monotonic() - began < 10
    assert set(children_of(os.getpid())) <= others
    sound(tmp_path / "c")


def test_workers_do_not_outlive_their_supervisor(web: TestWeb, tmp_path: Path) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.05"))
    web.log.wait_for(10)
    workers = children_of(child.pid)
    child.kill()
    child.communicate()
    deadline = time.monotonic() + 5
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_status_counts_all_workers_while_they_crawl(web: TestWeb, tmp_path: Path) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.5"))
    web.log.wait_for(60)
    time.sleep(0.2)
    seen: Outcome = periplus("status", "--home", tmp_path / "c", "--json")
    child.send_signal(signal.SIGINT)
    wait(child)
    run = seen.json["last_run"]
    assert run["outcome"] == "running"
    assert run["summary"]["fetched"] >= 30


def test_an_idle_worker_returns_its_part_of_the_budget(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 40)]) as web:
        figures = periplus(*command(web, tmp_path / "c", "--pages", "13", seeds=("http://a.test/",))).json
        assert sum(web.log.fetched().values()) == 13
    assert figures["fetched"] == 13


def test_a_robots_txt_that_redirects_to_another_workers_domain_is_fetched_under_a_loan(tmp_path: Path) -> None:
    here, (there,) = names_of(0, 2, 4), names_of(1, 2, 1)
    moved = Page(status=301, headers={"Location": f"http://{there}/rules.txt"})
    rules = Page(body="User-agent: *\nDisallow: /secret", content_type="text/plain")
    sites = [
        Site(name, {"/": Page(links=["/secret", "/open"]), "/open": Page(), "/robots.txt": moved}) for name in here
    ]
    busy = {f"/{number}": Page(f"{number}", delay=0.03) for number in range(150)}
    sites.append(Site(there, {"/": Page(links=list(busy)), "/rules.txt": rules} | busy))
    with TestWeb(sites) as web:
        seeds = tuple(f"http://{name}/" for name in (*here, there))
        env = environment(fetch__timeout=3, politeness__delay=0.02)  # its turn comes after 7 seconds or more
        figures = periplus(*command(web, tmp_path / "c", seeds=seeds), env=env).json
        assert web.log.count(there, "/rules.txt") == 4
        assert web.log.max_connections(there) == web.log.max_concurrent(there) == 1
        assert min(web.log.gaps(there)) >= 0.02
        assert all(web.log.count(name, "/secret") == 0 for name in here)
    assert figures["fetched"] == 4 * 2 + 151
    assert figures["refused"] == {"robots": 4}
    sound(tmp_path / "c")


def test_a_lent_domain_is_crawled_after_the_share_that_needed_it_has_moved(tmp_path: Path) -> None:
    (busiest, here), (there,) = names_of(0, 2, 2), names_of(1, 2, 1)
    moved = Page(status=301, headers={"Location": f"http://{there}/rules.txt"})
    pages = {f"/{number}": Page(f"{number}") for number in range(60)}
    sites = [
        mesh(busiest, 2_000),
        Site(here, {"/robots.txt": moved, **pages}),
        Site(there, {"/": Page(), "/rules.txt": Page(body="User-agent: *\n", content_type="text/plain")}),
    ]
    with TestWeb(sites) as web:
        seeds = (f"http://{there}/", f"http://{busiest}/", *(f"http://{here}{path}" for path in pages))
        env = environment(fetch__timeout=3.0)
        figures = periplus(*command(web, tmp_path / "c", seeds=seeds), env=env, timeout=45).json
    assert figures["fetched"] == 2_000 + 60 + 1
    sound(tmp_path / "c")

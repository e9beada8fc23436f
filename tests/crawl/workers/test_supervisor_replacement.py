"""Are dead workers replaced, and are pages that crash a worker parsed in the sandbox?"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import (
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
from parse.test_page import BOMBS
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Request, Result, crawl
from periplus.errors import WorkerDied
from periplus.model import Page as ReadPage
from periplus.model import Response, UrlState
from periplus.parse.page import PageParser
from periplus.parse.sandbox import parent
from testweb import Page, Site, TestWeb, many_hosts, mesh

pytestmark = pytest.mark.slow
HOSTS, PAGES = 6, 40
SEED = "http://h0001.test/"
POISON = b"arsenic"


@pytest.fixture
def sites() -> list[Site]:
    return many_hosts(HOSTS, PAGES)


@pytest.fixture
def web(sites: list[Site]) -> Iterator[TestWeb]:
    with TestWeb(sites) as running:
        yield running


def everything(sites: list[Site]) -> set[str]:
    return {url for site in sites for url in site.urls()}


def command(web: TestWeb, home: Path, *more: str, workers: int = 2) -> list[Any]:
    scope = ["--scope-host", ".*", "--json", "--workers", str(workers)]
    return ["crawl", SEED, "--home", home, *scope, *reach(web), *more]


def workers_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# -- workers that are killed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_a_replacement_goes_on_where_a_killed_worker_stopped(
    web: TestWeb, sites: list[Site], tmp_path: Path, workers: int
) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.05", workers=workers))
    web.log.wait_for(60)
    os.kill(workers_of(child.pid)[-1], signal.SIGKILL)
    outcome = wait(child)
    assert outcome.code == 0, outcome
    assert set(web.log.fetched()) == everything(sites)
    figures = outcome.json
    assert figures["fetched"] == HOSTS * PAGES
    assert figures["errors"] == {"worker_died": 1}
    assert sound(tmp_path / "c").checked["pages"] == HOSTS * PAGES
    assert {row["url"] for row in segment_rows(tmp_path / "c", "pages")} == everything(sites)
    for site in sites:
        assert min(web.log.gaps(site.host)) >= 0.05, "what was under way counts as asked"
        assert web.log.max_connections(site.host) == 1


@pytest.mark.parametrize(
    ("kills_wanted", "pages"), [(20, 80), pytest.param(50, 200, marks=[pytest.mark.long], id="long")]
)
def test_workers_killed_at_random_many_times_lose_no_page(tmp_path: Path, kills_wanted: int, pages: int) -> None:
    sites, dice = many_hosts(10, pages), random.Random(11)
    with TestWeb(sites) as web:
        settings = environment(store__commit_seconds=0.02, store__segment_seconds=0.2, politeness__delay=0.15)
        child = start(*command(web, tmp_path / "c", workers=2), env=settings)
        kills = 0
        while kills < kills_wanted and child.poll() is None:
            wait_for_both(tmp_path / "c" / "archive", child)
            time.sleep(dice.uniform(0, 0.1))
            with suppress(ProcessLookupError, FileNotFoundError, IndexError):
                os.kill(workers_of(child.pid)[0], signal.SIGKILL)  # the one that has lived longest
                kills += 1
        outcome = wait(child)
        assert outcome.code == 0, outcome
        assert set(web.log.fetched()) == everything(sites)
        assert min(min(web.log.gaps(site.host)) for site in sites) >= 0.15
    assert kills == kills_wanted
    assert outcome.json["fetched"] == 10 * pages
    rows = segment_rows(tmp_path / "c", "pages")
    assert len(rows) == 10 * pages
    assert {row["url"] for row in rows} == everything(sites)
    sound(tmp_path / "c")


def wait_for_both(archive: Path, child: subprocess.Popen[str]) -> None:
    """Until each of two workers has acknowledged something, or has nothing to do."""
    sizes, deadline = archived(archive), time.monotonic() + 2
    while time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.005)
        now = archived(archive)
        if len(now) == 2 and all(now[worker] > sizes[worker] for worker in now):
            return


def archived(archive: Path) -> Counter[str]:
    """Bytes in the archive files of each worker."""
    sizes = Counter[str]()
    for file in archive.glob("*.gz"):
        sizes[file.name[:3]] += file.stat().st_size
    return sizes


def test_a_page_budget_is_kept_exactly_when_workers_die(web: TestWeb, tmp_path: Path) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.02", "--pages", "151"))
    for requests in (30, 60):
        web.log.wait_for(requests)
        os.kill(workers_of(child.pid)[0], signal.SIGKILL)
        time.sleep(0.1)
    assert wait(child).json["fetched"] == 151
    assert sound(tmp_path / "c").checked["pages"] == 151


def test_a_worker_that_dies_while_all_are_stopping_is_not_replaced(
    web: TestWeb, sites: list[Site], tmp_path: Path
) -> None:
    child = start(*command(web, tmp_path / "c", "--delay", "0.3"))
    web.log.wait_for(20)
    worker = workers_of(child.pid)[0]
    os.kill(worker, signal.SIGSTOP)  # it cannot finish what is under way
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    os.kill(worker, signal.SIGKILL)
    assert wait(child).code == 130
    periplus(*command(web, tmp_path / "c"))
    assert set(web.log.fetched()) == everything(sites)
    sound(tmp_path / "c")


# -- pages that crash their worker ------------------------------------------------------------------------------------


@pytest.fixture
def poisoned() -> Iterator[TestWeb]:
    """Two sites, one of which has a page that crashes its parser."""
    pages = {
        "/": Page(links=["/poison", "/1", "/2"]),
        "/poison": Page("Poison", POISON.decode(), links=["/behind"]),
        "/behind": Page("Behind", links=["/3"]),
    }
    pages |= {f"/{number}": Page(f"Number {number}") for number in (1, 2, 3)}
    with TestWeb([Site("a.test", pages), mesh("b.test", 20)]) as running:
        yield running


def crash_on_poison(monkeypatch: pytest.MonkeyPatch, effect: Callable[[], None]) -> None:
    """Let workers run *effect* when they parse a page with POISON; the sandbox is another program."""
    skim = PageParser._skim

    def brittle(self: PageParser, response: Response) -> ReadPage:
        if POISON in response.body:
            effect()
        return skim(self, response)

    monkeypatch.setattr(PageParser, "_skim", brittle)


def poisoned_behind_the_fence(monkeypatch: pytest.MonkeyPatch, effect: str) -> None:
    inside = f"""
import os, signal, time
from periplus.parse.sandbox import child
from periplus.parse.page import PageParser
skim = PageParser._skim
def brittle(self, response):
    if {POISON!r} in response.body:
        {effect}
    return skim(self, response)
PageParser._skim = brittle
child.main()
"""
    program = parent._program().replace("from periplus.parse.sandbox.child import main; main()", inside)
    assert inside in program
    monkeypatch.setattr(parent, "_program", lambda: program)


def crash() -> None:
    faulthandler.disable()  # pytest's would print a long traceback
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(600)


def gorge() -> None:
    hoard = []
    for _ in range(3000):
        hoard.append(b"x" * 1_000_000)
        time.sleep(0.002)


def crawl_in_own_process(web: TestWeb, home: Path, workers: int, **flags: Any) -> Result:
    settings = settings_for(web, scope__hosts=[".*"], **flags)
    seeds = ["http://a.test/", "http://b.test/"]
    return crawl(Request(home, settings, seeds, Budget(seconds=50), workers, own_process=True))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_page_that_crashes_its_worker_is_parsed_in_the_sandbox(
    poisoned: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    crash_on_poison(monkeypatch, crash)
    figures = crawl_in_own_process(poisoned, tmp_path, workers).summary
    assert (figures["fetched"], figures["errors"]) == (26, {"worker_died": 1})
    assert state_of(tmp_path, "http://a.test/behind") == (UrlState.DONE, "ok"), "its links are followed"
    assert poisoned.log.count("a.test", "/poison") == 2
    sound(tmp_path)


@pytest.mark.parametrize(
    ("effect", "reason"),
    [("os.kill(os.getpid(), signal.SIGSEGV)", "parse_crash"), ("while True: pass", "parse_time")],
)
def test_a_page_that_crashes_the_sandbox_too_fails_with_a_reason(
    poisoned: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effect: str, reason: str
) -> None:
    crash_on_poison(monkeypatch, crash)
    poisoned_behind_the_fence(monkeypatch, effect)
    figures = crawl_in_own_process(poisoned, tmp_path, 1, parse__seconds=1.0).summary
    assert (figures["fetched"], figures["errors"]) == (24, {"worker_died": 1, reason: 1})
    assert state_of(tmp_path, "http://a.test/poison") == (UrlState.DONE, reason)
    asked = poisoned.log.count("a.test", "/poison")
    sound(tmp_path)
    crawl_in_own_process(poisoned, tmp_path, 1)
    assert poisoned.log.count("a.test", "/poison") == asked, "it is not fetched again"


@pytest.mark.parametrize(
    ("effect", "limit"), [(hang, {"parse__seconds": 0.2}), (gorge, {"parse__memory_mb": 256, "parse__seconds": 60.0})]
)
def test_a_page_that_takes_too_long_or_too_much_memory_is_parsed_in_the_sandbox(
    poisoned: TestWeb,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    effect: Callable[[], None],
    limit: dict[str, Any],
) -> None:
    crash_on_poison(monkeypatch, effect)
    figures = crawl_in_own_process(poisoned, tmp_path, 2, **limit).summary
    assert (figures["fetched"], figures["errors"]) == (26, {"worker_died": 1})
    sound(tmp_path)


def test_a_site_full_of_crashing_pages_costs_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crash_on_poison(monkeypatch, crash)
    pages = {f"/{number}": Page(f"{number}", POISON.decode()) for number in range(30)}
    with TestWeb([Site("a.test", {"/": Page(links=list(pages))} | pages), mesh("b.test", 5)]) as web:
        figures = crawl_in_own_process(web, tmp_path, 1).summary
    assert (figures["fetched"], figures["errors"]) == (36, {"worker_died": 1})


def test_a_sandbox_that_fails_costs_one_page(
    poisoned: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RecursionError

    crash_on_poison(monkeypatch, fail)
    figures = crawl_in_own_process(poisoned, tmp_path, 1).summary
    assert (figures["fetched"], figures["errors"]) == (24, {"parse_crash": 1})
    sound(tmp_path)


def test_a_sitemap_that_crashes_two_workers_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def brittle(*_: object, **__: object) -> None:
        crash()

    monkeypatch.setattr("periplus.parse.reader.read_sitemap", brittle)
    site = mesh("a.test", 5)
    site.pages["/sitemap.xml"] = Page(body=b"<urlset></urlset>", content_type="application/xml")
    with TestWeb([site]) as web:
        sitemap = "http://a.test/sitemap.xml"
        request = Request(tmp_path, settings_for(web), ["http://a.test/"], sitemaps=[sitemap], own_process=True)
        figures = crawl(request).summary
    assert (figures["fetched"], figures["errors"]) == (5, {"worker_died": 2})
    assert state_of(tmp_path, sitemap) == (UrlState.DONE, "parse_crash")
    sound(tmp_path)


def test_recovery_parses_an_acknowledged_crashing_page_in_the_sandbox(
    poisoned: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl_in_own_process(poisoned, tmp_path, 1)
    with closing(sqlite3.connect(tmp_path / "crawl.db")) as database, database:  # as if no segment had been sealed yet
        for statement in ("DELETE FROM segments", "UPDATE archives SET sealed = 0"):
            database.execute(statement)
    for segment in (tmp_path / "segments").iterdir():
        segment.unlink()
    crash_on_poison(monkeypatch, crash)
    crawl_in_own_process(poisoned, tmp_path, 1)
    assert len(segment_rows(tmp_path, "pages")) == 26
    sound(tmp_path)


def test_the_crawl_fails_with_a_message_when_workers_keep_dying(
    web: TestWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("periplus.crawl.workers.worker_process.recover", lambda *_: crash())
    monkeypatch.setattr("periplus.store.catalog.catalog.Catalog.archive_workers", lambda _: [0])
    with pytest.raises(WorkerDied, match="5 workers of the crawl died one after the other"):
        crawl_in_own_process(web, tmp_path, 1)
    monkeypatch.undo()
    periplus(*command(web, tmp_path))
    sound(tmp_path)


@pytest.mark.parametrize("aside", [4 << 20, pytest.param(256 << 10, marks=[pytest.mark.long], id="long")])
def test_compression_bombs_delay_no_other_page(tmp_path: Path, aside: int) -> None:
    bombs = {f"/{number}": Page(body=bomb.encode()) for number, bomb in enumerate(BOMBS.values())}
    site = Site("a.test", {"/": Page(links=list(bombs))} | bombs)
    others = {f"/{number}": Page(f"{number}") for number in range(100)}
    with TestWeb([site, Site("b.test", {"/": Page(links=list(others))} | others)]) as web:
        flags = {"politeness__delay": 0.05, "parse__aside_bytes": aside, "parse__seconds": 30.0}
        figures = crawl_in_own_process(web, tmp_path, 1, scope__depth=1, **flags).summary
        slowest = max(web.log.gaps("b.test"))
    assert figures["fetched"] == len(bombs) + 1 + 101
    assert figures["errors"] == {}
    assert slowest < 10, "a bomb that is not read in linear time takes minutes"
    sound(tmp_path)


def test_no_process_is_left_running(web: TestWeb, tmp_path: Path) -> None:
    before = threading.active_count(), set(workers_of(os.getpid()))
    crawl_in_own_process(web, tmp_path, 2)
    assert (threading.active_count(), set(workers_of(os.getpid()))) == before

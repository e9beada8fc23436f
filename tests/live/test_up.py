"""`periplus up` crawls, indexes and serves: pages can be searched soon after they were fetched."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, environment, sound
from live.running import Up, until, up
from testweb import Page, Site, TestWeb

pytestmark = pytest.mark.slow

PAGES = {
    "/": Page("Harbour museum", "Ships and ropes in a large old building.", links=["/ships", "/ropes"]),
    "/ships": Page("Ships", "All our wooden ships stand here.", links=["/", "/ships/argo"]),
    "/ships/argo": Page("Argo", "The oldest ship, built by shipwrights of Pagasae."),
    "/ropes": Page("Ropes", "A room full of ropes.", links=["/"]),
}


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("museum.test", PAGES)]) as running:
        yield running


def finds(running: Up, query: str, url: str) -> bool:
    answer = running.site.get("/api/search", q=query)
    return answer.status == 200 and url in [hit["url"] for hit in answer.json["results"]]


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_pages_can_be_searched_while_the_command_runs_and_a_second_start_continues(
    web: TestWeb, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: finds(running, "shipwrights", "http://museum.test/ships/argo"))
        until(lambda: running.documents() == 4)
        children = running.children()
        ended = running.stop()
    assert ended.code == 0, ended.err
    assert (ended.json["pages"], ended.json["searchable"]) == (4, 4)
    assert ended.json["restarts"] == {"crawl": 0, "builder": 0, "site": 0}
    assert all(is_gone(pid) for pid in children.values())
    requests = len(web.log.entries())
    sound(home)
    with up(web, home) as running:
        until(lambda: running.documents() == 4)
        assert finds(running, "shipwrights", "http://museum.test/ships/argo")
        assert running.stop(signal.SIGTERM).code == 0
    assert len(web.log.entries()) == requests, "nothing was due, so nothing was fetched again"
    assert sound(home).checked["pages"] == 4


def test_ctrl_c_makes_the_last_pages_searchable(web: TestWeb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: (home / "crawl.db").exists() and web.log.count("museum.test", "/ships/argo") > 0)
        ended = running.stop()
    assert ended.code == 0, ended.err
    with catalog_of(home) as catalog:
        pages = catalog.counters()["fetched"]
        assert catalog.unsealed_pages() == (0, None)
    assert ended.json["searchable"] == pages


def test_a_seed_that_cannot_be_fetched_is_explained(web: TestWeb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/nothing") as running:
        until(lambda: "no page has been fetched yet: http://museum.test/nothing" in (home / "up.log").read_text())
        ended = running.stop()
    assert "no page has been fetched yet: http://museum.test/nothing: failed with http_error (404)" in ended.err


def test_the_process_tree_dies_with_its_supervisor(web: TestWeb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: len(running.children()) == 3)
        children = running.children()
        os.kill(running.process.pid, signal.SIGKILL)
        running.process.wait()
        until(lambda: all(is_gone(pid) for pid in children.values()))
    sound(home)


def test_a_second_signal_stops_now(tmp_path: Path) -> None:
    home, hanging = tmp_path / "home", {"/": Page("Slow", "It takes an hour.", delay=3600.0)}
    settings = environment(fetch__timeout=3600.0)
    with TestWeb([Site("slow.test", hanging)]) as web, up(web, home, "http://slow.test/", env=settings) as running:
        until(lambda: web.log.count("slow.test", "/") > 0)
        running.process.send_signal(signal.SIGINT)
        until(lambda: "stopping: " in (home / "up.log").read_text())
        time.sleep(1.2)  # signals within a second count as one
        ended = running.stop()
    assert ended.code == 0, ended.err
    sound(home)

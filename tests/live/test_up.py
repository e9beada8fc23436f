"""`periplus up` crawls, indexes and serves: pages can be searched soon after they were fetched."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, environment, sound, typed
from live.running import Up, until, up
from periplus.control.state import crawl_state
from periplus.store.collection import open_collection
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
    with TestWeb([Site("museum.test", dict(PAGES))]) as running:
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


def test_a_stopped_crawl_starts_again_when_told(web: TestWeb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: running.documents() == 4)
        collection = open_collection(home)
        assert typed("stop", "--home", home).code == 0
        until(lambda: not crawl_state(collection).is_running)
        assert finds(running, "shipwrights", "http://museum.test/ships/argo"), "the site goes on"
        web.site("museum.test").pages["/new"] = Page("Anchors", "An anchor of lead.")
        assert typed("seed", "add", "http://museum.test/new", "--home", home).code == 0
        assert typed("start", "--home", home).code == 0
        until(lambda: finds(running, "anchor lead", "http://museum.test/new"))
        assert running.stop().json["restarts"]["crawl"] == 0
    assert set(web.log.fetched().values()) == {1}
    sound(home)


def test_a_standing_query_reports_a_page_soon_after_it_was_fetched(web: TestWeb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: running.documents() == 4)
        feed = typed("watch", "add", "anchor", "--home", home, "--json").json["feed"]
        web.site("museum.test").pages["/new"] = Page("Anchors", "An anchor of lead.")
        assert typed("seed", "add", "http://museum.test/new", "--home", home).code == 0
        until(lambda: "http://museum.test/new" in running.site.get(feed).text)
        assert running.stop().code == 0


def test_the_console_and_the_metrics_show_what_happens(web: TestWeb, tmp_path: Path) -> None:
    with up(web, tmp_path / "home", "http://museum.test/") as running:
        assert running.site.get("/console/").status == 200
        until(lambda: running.documents() == 4)
        overview = running.site.get("/console/api/overview").json
        assert overview["urls"]["fetched"] == 4
        metrics = running.site.get("/metrics").text
        assert "periplus_crawl_pages_total 4\n" in metrics
        assert 'periplus_crawl_workers{state="' in metrics
        assert running.stop().code == 0


def test_the_last_line_counts_the_pages_of_the_index_although_the_builder_has_failed(
    web: TestWeb, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with up(web, home, "http://museum.test/") as running:
        until(lambda: running.documents() == 4)
        os.kill(running.children()["builder"], signal.SIGKILL)
        ended = running.stop()
    assert ended.code == 0, ended.err
    assert ended.json["searchable"] == 4

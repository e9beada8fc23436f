"""Do the rows of a crawl say what its workers do?"""

from __future__ import annotations

import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from control.running import crawling, until
from crawl.crawling import run_crawl, settings_for, sound, wait
from periplus.control.orders import drain
from periplus.crawl.run import Request, crawl
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, many_hosts, mesh

FIGURES = [
    "run_id",
    "fetched",
    "bytes",
    "html",
    "pdf",
    "other",
    "errors",
    "under_way",
    "buffered",
    "hosts",
    "pages_per_second",
    "memory_bytes",
    "committed",
    "visits",
]
SAMPLE = [
    "pages",
    "bytes",
    "html",
    "pdf",
    "errors",
    "queued_memory",
    "queued_disk",
    "under_way",
    "disk_free_bytes",
    "freshness",
    "documents",
    "workers",
]


def rows(home: Path) -> list[WorkerRow]:
    with closing(open_catalog(open_collection(home), LiveState)) as live:
        return live.workers()


def samples(home: Path) -> list[dict[str, Any]]:
    with closing(open_catalog(open_collection(home), LiveState)) as live:
        return [figures for _, figures in live.samples(0.0)]


def test_a_worker_in_this_process_publishes_its_row_and_removes_it(tmp_path: Path) -> None:
    seen: list[WorkerRow] = []
    pages = {"/": Page(links=["/text", "/gone"]), "/text": Page(delay=1.0, content_type="text/plain", body="words")}
    with TestWeb([Site("a.test", pages)]) as web:
        request = Request(tmp_path, settings_for(web), ["http://a.test/"])
        crawl(request, lambda _: seen.extend(rows(tmp_path)))
    row = seen[-1]
    assert (row.node, row.role, row.number) == (socket.gethostname(), Role.CRAWL, 0)
    assert list(row.figures) == FIGURES
    assert rows(tmp_path) == []
    assert list(samples(tmp_path)[0]) == SAMPLE


@pytest.mark.slow
def test_rows_show_counts_errors_and_the_step_of_every_visit(tmp_path: Path) -> None:
    slow = {"/": Page(links=["/gone", "/slow"]), "/slow": Page(delay=60.0)}
    waiting = Site("b.test", {"/": Page(links=[f"/{n}" for n in range(5)])} | {f"/{n}": Page() for n in range(5)})
    with (
        TestWeb([Site("a.test", slow), waiting]) as web,
        crawling(
            web, tmp_path, "http://a.test/", "http://b.test/", POLITENESS__DELAY=1.0, FETCH__TIMEOUT=90.0
        ) as running,
    ):

        def steps() -> dict[str, str]:
            return {one["url"]: one["step"] for row in rows(tmp_path) for one in row.figures["visits"]}

        until(lambda: steps().get("http://a.test/slow") == "fetch", "the slow page")
        until(lambda: "delay" in steps().values(), "a URL that waits for its host")
        (row,) = rows(tmp_path)
        assert row.figures["errors"] == {"http_404": 1}
        assert row.figures["under_way"] >= 1
        assert row.state == "running"
        running.kill()
    sound(tmp_path)


@pytest.mark.slow
def test_several_workers_have_rows_and_samples_add_them_up(tmp_path: Path) -> None:
    with (
        TestWeb(many_hosts(10, 20)) as web,
        crawling(web, tmp_path, "http://h0001.test/", "--scope-host", ".*", "--continuous", workers=2) as running,
    ):
        running.until_fetched(200)
        running.until_states("idle")
        until(lambda: sum(row.figures["fetched"] for row in rows(tmp_path)) == 200, "all pages in the rows")
        until(lambda: samples(tmp_path)[-1]["pages"] == 200, "a sample")
        last = samples(tmp_path)[-1]
        assert (last["workers"], last["queued_disk"], last["html"]) == (2, 0, 200)
        drain(running.collection)
        assert wait(running.child).code == 130
    assert rows(tmp_path) == []
    sound(tmp_path)


def test_rows_that_a_killed_crawl_left_are_replaced(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        with closing(open_catalog(open_collection(tmp_path), LiveState)) as live:
            for number in (0, 3):
                live.publish(WorkerRow(socket.gethostname(), Role.CRAWL, number, 1, 1.0, time.time(), "running", 0, {}))
        run_crawl(web, tmp_path)
    assert rows(tmp_path) == []


@pytest.mark.slow
def test_the_index_slows_the_crawl_down_until_it_is_silent(tmp_path: Path) -> None:
    rate = 20.0
    with TestWeb(many_hosts(30, 10)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/none")
        with closing(open_catalog(open_collection(tmp_path), LiveState)) as live:
            limited = {"rate_limit": rate, "documents": 1, "freshness": 0.0}
            live.publish(WorkerRow("node", Role.INDEX, 0, 1, 1.0, time.time(), "running", 0, limited))
            with crawling(web, tmp_path, "http://h0001.test/", "--scope-host", ".*") as running:
                running.until_fetched(60)
                entries = web.log.entries()
                seconds = entries[-1].started - entries[2].started
                assert len(entries) <= rate * (seconds + 1.0) + 40, "the burst, and robots.txt"
                assert running.child.poll() is None
                live.remove("node", Role.INDEX, 0)
                assert wait(running.child, 120).code == 0
        assert len([url for url in web.log.fetched() if "none" not in url]) == 300
    sound(tmp_path)

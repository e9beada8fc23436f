"""However many come, each is answered or asked to come again."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web import app
from periplus.web.desk import Desk
from periplus.web.routes import SearchSite
from web.engines import FakeEngine
from web.serving import searching, serving


def test_one_slow_search_does_not_stop_the_others() -> None:
    first = threading.Event()
    release = threading.Event()

    def hold_the_first() -> None:
        if not first.is_set():
            first.set()
            release.wait(10)

    with searching(FakeEngine(before=hold_the_first)) as site, ThreadPoolExecutor() as pool:
        slow = pool.submit(site.get, "/api/search?q=slow")
        assert first.wait(10)
        assert site.get("/api/search?q=quick").status == 200
        assert site.get("/").status == 200
        release.set()
        assert slow.result().status == 200


def test_whoever_finds_the_queue_full_is_asked_to_come_again() -> None:
    entered = threading.Semaphore(0)
    release = threading.Event()

    def hold() -> None:
        entered.release()
        release.wait(10)

    engine = FakeEngine(before=hold)
    pages = Pages(Path(app.__file__).parent / "templates", layout="page.html")
    desk = Desk(engine, at_once=1, may_wait=1)
    site_of_two = build(SearchSite(engine, pages, desk).routes(), pages)
    with serving(site_of_two) as site, ThreadPoolExecutor() as pool:
        inside = [pool.submit(site.get, "/api/search?q=x") for _ in range(2)]
        assert entered.acquire(timeout=10)
        deadline = time.monotonic() + 10
        while desk._inside < 2:  # until the second has come and waits
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for path in ("/api/search?q=x", "/search?q=x"):
            turned_away = site.get(path)
            assert turned_away.status == 503
            assert turned_away.headers["retry-after"] == "1"
            assert "Try again in a moment." in turned_away.text
        release.set()
        assert [answer.result().status for answer in inside] == [200, 200]
        assert site.get("/api/search?q=x").status == 200


@pytest.mark.slow
def test_a_thousand_clients_at_once_are_all_answered() -> None:
    with searching(FakeEngine()) as site, ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda number: site.get("/api/search", q=number).status, range(1_000)))
    assert answers == 1_000 * [200]

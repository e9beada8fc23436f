"""One line about the crawl beside the site."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from periplus.config import Serving
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import create_collection
from periplus.web.app import Sources, create_app
from periplus.web.crawl_line import CrawlReader, CrawlState
from web.engines import FakeEngine, FakeLibrary
from web.serving import serving


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (CrawlState(True, False, 3, 1.2), "1,234 pages, newest 1 second ago, crawling"),
        (CrawlState(True, False, 3, 90.0), "1,234 pages, newest 90 seconds ago, crawling"),
        (CrawlState(True, False, 3, 600.0), "1,234 pages, newest 10 minutes ago, crawling"),
        (CrawlState(True, False, 3, 9000.0), "1,234 pages, newest 2 hours ago, crawling"),
        (CrawlState(True, False, 3), "1,234 pages, crawling"),
        (CrawlState(True, True, 3), "1,234 pages, crawl paused"),
    ],
)
def test_the_line_says_how_fresh_the_newest_page_is(state: CrawlState, line: str) -> None:
    assert state.line(1234) == line


def test_one_page_is_singular() -> None:
    assert CrawlState(True, False, 1).starting_line == "1 page so far, crawling …"
    assert CrawlState(False, False, 0).starting_line == "0 pages so far, nothing is being crawled."


def test_the_newest_page_comes_from_the_row_of_the_builder(tmp_path: Path) -> None:
    collection, now = create_collection(tmp_path / "home"), time.time()
    open_catalog(collection, create=True).close()
    rows = open_catalog(collection, LiveState)
    rows.publish(WorkerRow("here", Role.INDEX, 0, 1, now, now, "idle", 0, {"newest": now - 40}))
    rows.publish(WorkerRow("here", Role.CRAWL, 0, 1, now, now, "running", 0, {}))
    rows.close()
    found = CrawlReader(collection)()
    assert found.is_crawling
    assert found.newest_age is not None
    assert 39 < found.newest_age < 60


def test_the_start_page_shows_the_crawl_as_it_is_now() -> None:
    engine, states = (
        FakeEngine(),
        [CrawlState(True, False, 9, 5.0), CrawlState(True, False, 9, 6.0), CrawlState(False, False, 9)],
    )
    sources = Sources(engine, FakeLibrary(engine), crawl=lambda: states.pop(0))
    with serving(create_app(sources, Serving())) as site:
        assert "newest 5 seconds ago, crawling" in site.get("/").text
        assert "newest 6 seconds ago, crawling" in site.get("/").text, "it is not stored"
        assert "Searches " in site.get("/").text, "no crawl runs any more"

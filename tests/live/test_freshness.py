"""Which pages wait, and how long did the others take?"""

from __future__ import annotations

import time
from pathlib import Path

from crawl.crawling import run_crawl
from periplus.live.freshness import FreshnessMeter
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from testweb import TestWeb, mesh


def crawled(home: Path) -> Collection:
    with TestWeb([mesh("a.test", 12, 3)]) as web:
        run_crawl(web, home, "http://a.test/")
    return open_collection(home)


def names(collection: Collection) -> list[str]:
    catalog = open_catalog(collection)
    try:
        return [segment.name for segment in catalog.segments("pages")]
    finally:
        catalog.close()


def test_pages_wait_until_their_generation_is_served(tmp_path: Path) -> None:
    began = time.time()
    collection, served = crawled(tmp_path / "home"), [0]
    meter = FreshnessMeter(collection, began, lambda: served[0])
    before = meter.measure()
    assert (before.waiting, before.sealed, before.p95) == (12, 12, 0.0)
    assert 0 < before.oldest_age <= time.time() - began
    assert meter.indexed(names(collection), 3) == 12
    after = meter.measure()
    assert (after.waiting, after.oldest_age, after.p95) == (0, 0.0, 0.0), "the site has not opened the generation yet"
    served[0] = 3
    opened = meter.measure()
    assert 0 < opened.p95 <= time.time() - began
    assert began <= opened.newest <= time.time()


def test_pages_of_an_earlier_run_do_not_count_for_the_percentile(tmp_path: Path) -> None:
    collection = crawled(tmp_path / "home")
    meter = FreshnessMeter(collection, time.time() + 1, lambda: None)
    meter.indexed(names(collection), 1)
    found = meter.measure()
    assert (found.waiting, found.p95) == (0, 0.0)
    assert found.newest > 0


def test_pages_of_a_segment_that_was_parsed_again_count_once(tmp_path: Path) -> None:
    collection = crawled(tmp_path / "home")
    meter = FreshnessMeter(collection, 0.0, lambda: None)
    meter.indexed(names(collection), 1)
    assert meter.indexed(names(collection), 2) == 0

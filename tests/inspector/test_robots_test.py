"""The stored robots.txt is tested for any crawler, without a request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from periplus.inspector.robots_test import robots_test
from periplus.model import RobotsFile
from periplus.store.catalog.batch import Batch
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.url import Canonicalizer
from store.records import WRITTEN

BODY = b"User-agent: *\nDisallow: /private\n\nUser-agent: other\nCrawl-delay: 7\nDisallow: /\n"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(SqliteDatabase(tmp_path / "crawl.db", create=True))) as catalog:
        files = [
            RobotsFile("https://a.example", 5.0, 200, BODY),
            RobotsFile("https://b.example", 5.0, 404, b""),
            RobotsFile("https://c.example", 5.0, 0, b""),
            RobotsFile("https://d.example", 5.0, 200, b"# x\n" * 600),
        ]
        catalog.commit(Batch(robots=files), WRITTEN, catalog.begin_run({}), {})
        yield catalog


@pytest.mark.parametrize(
    ("url", "agent", "allowed", "line"),
    [
        ("https://a.example/private/x", "periplus", False, 2),
        ("https://a.example/open", "periplus", True, 0),
        ("https://a.example/open", "other", False, 6),
        ("https://b.example/", "periplus", True, 0),
        ("https://c.example/", "periplus", False, 0),
    ],
)
def test_the_line_that_decides(catalog: Catalog, url: str, agent: str, allowed: bool, line: int) -> None:
    found = robots_test(catalog, Canonicalizer(), url, agent)
    assert (found["allowed"], found["line_number"]) == (allowed, line)
    assert found["line"]


def test_the_delay_is_that_of_the_crawler(catalog: Catalog) -> None:
    assert robots_test(catalog, Canonicalizer(), "https://a.example/", "other")["crawl_delay"] == 7
    assert robots_test(catalog, Canonicalizer(), "https://a.example/")["crawl_delay"] is None


def test_an_unknown_site_is_said_to_be_unknown(catalog: Catalog) -> None:
    assert robots_test(catalog, Canonicalizer(), "https://e.example/")["known"] is False


def test_a_long_file_is_cut(catalog: Catalog) -> None:
    found = robots_test(catalog, Canonicalizer(), "https://d.example/")
    assert (len(found["lines"]), found["lines_left_out"]) == (500, 100)

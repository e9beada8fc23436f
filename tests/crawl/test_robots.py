"""Is a robots.txt fetched when it must be, and not more often?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.crawl.robots import RobotsShelf, is_unreachable
from periplus.model import Reason, Response, RobotsFile
from periplus.store.catalog import Catalog
from periplus.store.ledger import Batch, Written

ORIGIN = "http://a.test"
DAY = 86_400.0
NOW = 1_000_000.0


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    found = Catalog(tmp_path / "crawl.db", create=True)
    yield found
    found.close()


def remember(catalog: Catalog, file: RobotsFile) -> None:
    catalog.commit(Batch(robots=[file]), Written(0, "w00-000001.warc.gz", 0), catalog.begin_run({}), {})


def fetched(status: int = 200, body: bytes = b"", failure: Reason | None = None) -> Response:
    return Response(f"{ORIGIN}/robots.txt", NOW, status, body=body, failure=failure)


def test_an_unknown_origin_has_to_be_asked(catalog: Catalog) -> None:
    assert RobotsShelf(catalog, DAY).find(ORIGIN, NOW) is None


def test_what_was_fetched_is_used_until_it_is_too_old(catalog: Catalog) -> None:
    shelf = RobotsShelf(catalog, DAY)
    shelf.put(ORIGIN, fetched(body=b"User-agent: *\nDisallow: /x"))
    rules = shelf.find(ORIGIN, NOW + DAY - 1)
    assert rules is not None
    assert not rules.verdict("/x").allowed
    assert shelf.find(ORIGIN, NOW + DAY) is None


def test_what_an_earlier_run_fetched_is_used_too(catalog: Catalog) -> None:
    remember(catalog, RobotsFile(ORIGIN, NOW, 200, b"User-agent: *\nDisallow: /x"))
    rules = RobotsShelf(catalog, DAY).find(ORIGIN, NOW + 10)
    assert rules is not None
    assert not rules.verdict("/x").allowed
    assert RobotsShelf(catalog, DAY).find(ORIGIN, NOW + DAY) is None
    assert RobotsShelf(catalog, DAY).find("https://a.test", NOW) is None


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_a_file_that_could_not_be_had_is_asked_for_again(catalog: Catalog, status: int) -> None:
    remember(catalog, RobotsFile(ORIGIN, NOW, status, b""))
    assert RobotsShelf(catalog, DAY).find(ORIGIN, NOW + 10) is None


def test_a_transfer_that_broke_off_is_not_an_empty_file(catalog: Catalog) -> None:
    """An empty robots.txt would allow everything."""
    file, rules = RobotsShelf(catalog, DAY).put(ORIGIN, fetched(200, failure=Reason.CUT_SHORT))
    assert file.status == 0
    assert not rules.verdict("/").allowed


def test_a_forgotten_file_is_asked_for_again(catalog: Catalog) -> None:
    shelf = RobotsShelf(catalog, DAY)
    shelf.put(ORIGIN, fetched())
    shelf.forget(ORIGIN)
    assert shelf.find(ORIGIN, NOW) is None
    shelf.forget("http://never-met.test")


@pytest.mark.parametrize(
    ("status", "open_question"), [(0, True), (200, False), (301, False), (404, False), (429, True), (503, True)]
)
def test_only_no_answer_leaves_the_question_open(status: int, open_question: bool) -> None:
    assert is_unreachable(status) is open_question

"""Is a recrawled page sent and stored again only when it has changed?"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from crawl.crawling import catalog_of, run_crawl, segment_rows, settings_for, sound, state_of
from periplus.crawl.assignment import Budget
from periplus.inspector.url_report import url_history
from periplus.inspector.verify import verify
from periplus.model import UrlState
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb

SEED = "http://a.test/"
LINKS = {"/x": Page("X")}
DATE = datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([Site("a.test", {"/": Page("Home", links=["/x"], etag="v1"), **LINKS})]) as running:
        yield running


def crawl_again(web: TestWeb, home: Path, page: Page | None = None, **flags: Any) -> dict[str, Any]:
    """Crawl as before, after the front page may have changed; returns the summary."""
    if page is not None:
        web.site("a.test").pages["/"] = page
    web.log.clear()
    result = run_crawl(web, home, SEED, **flags)
    sound(home)
    return result.summary


def revisits(home: Path) -> list[dict[str, str]]:
    """The fields of every revisit record and the status of its answer, as warcio reads them."""
    found = []
    for file in sorted((home / "archive").glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                if record.rec_type == "revisit":
                    assert record.content_stream().read() == b""
                    found.append(dict(record.rec_headers.headers) | {"status": record.http_headers.get_statuscode()})
    return found


def dates_of(home: Path, kind: str) -> list[str]:
    with next((home / "archive").glob("*.warc.gz")).open("rb") as stream:
        records = [record.rec_headers for record in ArchiveIterator(stream) if record.rec_type == kind]
    return [head.get_header("WARC-Date") for head in records if head.get_header("WARC-Target-URI") == SEED]


def fetches(home: Path, url: str = SEED) -> list[tuple[str, str, int]]:
    with catalog_of(home) as catalog:
        history = url_history(catalog, settings_for(None), url)["fetches"]
    return [(fetch["verdict"], fetch["reason"], fetch["status"]) for fetch in history]


@pytest.mark.parametrize(
    ("page", "header", "value"),
    [
        (Page("Home", links=["/x"], etag="v1"), "if-none-match", '"v1"'),
        (Page("Home", links=["/x"], last_modified=DATE), "if-modified-since", "Mon, 06 May 2024 07:08:09 GMT"),
    ],
)
def test_a_page_that_has_not_changed_is_not_sent_again(
    web: TestWeb, tmp_path: Path, page: Page, header: str, value: str
) -> None:
    crawl_again(web, tmp_path, page)
    assert header not in web.log.entries()[-1].headers
    rows = segment_rows(tmp_path, "pages")
    summary = crawl_again(web, tmp_path)
    (asked,) = web.log.entries()
    assert (asked.path, asked.status, asked.headers[header]) == ("/", 304, value)
    assert (summary["fetched"], summary["unchanged"], summary["errors"]) == (0, 1, {})
    assert state_of(tmp_path, SEED) == (UrlState.DONE, "not_modified")
    assert fetches(tmp_path) == [("fetched", "ok", 200), ("unchanged", "not_modified", 304)]
    assert segment_rows(tmp_path, "pages") == rows
    (record,) = revisits(tmp_path)
    assert record["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert record["WARC-Refers-To-Target-URI"] == record["WARC-Target-URI"] == SEED
    assert [record["WARC-Refers-To-Date"]] == dates_of(tmp_path, "response")
    assert record["status"] == "304"


def test_the_time_of_the_last_visit_is_known(web: TestWeb, tmp_path: Path) -> None:
    moments = []
    for _ in range(3):
        crawl_again(web, tmp_path)
        with catalog_of(tmp_path) as catalog:
            row = catalog.url(SEED)
        assert row is not None
        moments.append((row["visits"], row["changed"]))
    assert [visits for visits, _ in moments] == [1, 2, 3]
    assert moments == sorted(moments)


def test_a_page_that_has_changed_is_a_new_version(web: TestWeb, tmp_path: Path) -> None:
    crawl_again(web, tmp_path)
    summary = crawl_again(web, tmp_path, Page("Renovated", links=["/x", "/new"], etag="v2"))
    assert web.log.entries()[0].headers["if-none-match"] == '"v1"'
    assert (summary["fetched"], summary["unchanged"], summary["errors"]) == (1, 0, {"http_404": 1})
    assert fetches(tmp_path) == [("fetched", "ok", 200)] * 2
    titles = [row["title"] for row in segment_rows(tmp_path, "pages") if row["url"] == SEED]
    assert titles == ["Home", "Renovated"]
    crawl_again(web, tmp_path)
    assert web.log.entries()[0].headers["if-none-match"] == '"v2"'


def test_a_page_that_is_sent_again_unchanged_is_not_stored_again(web: TestWeb, tmp_path: Path) -> None:
    plain = Page("Home", links=["/x"])
    crawl_again(web, tmp_path, plain)
    rows = segment_rows(tmp_path, "pages")
    for _ in range(2):
        summary = crawl_again(web, tmp_path)
        assert web.log.entries()[0].status == 200
        assert (summary["fetched"], summary["unchanged"]) == (1, 0)
    assert state_of(tmp_path, SEED) == (UrlState.DONE, "same_content")
    assert segment_rows(tmp_path, "pages") == rows
    first, second = revisits(tmp_path)
    assert {first["WARC-Profile"], second["WARC-Profile"]} == {
        "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    }
    (original,) = dates_of(tmp_path, "response")
    assert first["WARC-Refers-To-Date"] == second["WARC-Refers-To-Date"] == original  # the record that has the page
    assert first["WARC-Payload-Digest"] == second["WARC-Payload-Digest"]
    assert first["status"] == "200"


def test_the_newest_etag_is_sent(web: TestWeb, tmp_path: Path) -> None:
    crawl_again(web, tmp_path)
    crawl_again(web, tmp_path, Page("Home", links=["/x"], etag="v2"))  # the same page under a new tag
    assert fetches(tmp_path)[-1] == ("fetched", "same_content", 200)
    assert crawl_again(web, tmp_path)["unchanged"] == 1
    assert web.log.entries()[0].headers["if-none-match"] == '"v2"'


def test_a_page_that_goes_back_to_an_older_version_is_stored_again(web: TestWeb, tmp_path: Path) -> None:
    """Only the last version counts, because only that is what searchers see."""
    for title in ("Home", "Other", "Home"):
        crawl_again(web, tmp_path, Page(title))
    assert fetches(tmp_path) == [("fetched", "ok", 200)] * 3
    assert [row["title"] for row in segment_rows(tmp_path, "pages") if row["url"] == SEED] == ["Home", "Other", "Home"]


def test_links_of_an_unchanged_page_are_followed_when_the_scope_grows(web: TestWeb, tmp_path: Path) -> None:
    web.add(Site("b.test", {"/": Page("B")}))
    plain = Page("Home", links=["http://b.test/"])
    crawl_again(web, tmp_path, plain)
    assert crawl_again(web, tmp_path, scope__hosts=[".*"])["fetched"] == 2
    assert web.log.count("b.test", "/") == 1


def test_a_run_that_continues_recrawls_nothing(web: TestWeb, tmp_path: Path) -> None:
    run_crawl(web, tmp_path, SEED, budget=Budget(pages=1))
    run_crawl(web, tmp_path, SEED)
    assert web.log.paths("a.test") == ["/robots.txt", "/", "/x"]


def test_a_304_to_an_unconditional_request_is_an_error(web: TestWeb, tmp_path: Path) -> None:
    summary = crawl_again(web, tmp_path, Page(status=304))
    assert (summary["errors"], summary["unchanged"]) == ({"http_304": 1}, 0)
    assert state_of(tmp_path, SEED) == (UrlState.FAILED, "http_error")


def test_a_page_that_is_gone_at_its_recrawl_is_an_error(web: TestWeb, tmp_path: Path) -> None:
    crawl_again(web, tmp_path)
    assert crawl_again(web, tmp_path, Page(status=410))["errors"] == {"http_410": 1}
    assert state_of(tmp_path, SEED) == (UrlState.FAILED, "http_error")
    assert crawl_again(web, tmp_path, Page("Home", links=["/x"], etag="v1"))["unchanged"] == 1  # it is back as it was


def test_a_killed_run_with_revisits_is_recovered(web: TestWeb, tmp_path: Path) -> None:
    crawl_again(web, tmp_path)
    crawl_again(web, tmp_path)
    crawl_again(web, tmp_path, Page("Home", links=["/x"]))
    rows = sorted(row["offset"] for row in segment_rows(tmp_path, "pages"))
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        database.execute("DELETE FROM segments")
        database.execute("UPDATE archives SET sealed = 0")
    database.close()
    shutil.rmtree(tmp_path / "segments")
    (tmp_path / "segments").mkdir()
    run_crawl(web, tmp_path)
    assert sorted(row["offset"] for row in segment_rows(tmp_path, "pages")) == rows
    sound(tmp_path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("content_id = zeroblob(32)", "it refers to another payload than the catalog"),
        ("verdict = 'fetched', reason = 'ok'", "a revisit, the catalog says ok"),
        ("status = 200", "status 304, the catalog says 200"),
    ],
)
def test_verify_finds_a_revisit_that_differs_from_the_catalog(
    web: TestWeb, tmp_path: Path, change: str, problem: str
) -> None:
    crawl_again(web, tmp_path)
    crawl_again(web, tmp_path)
    with sqlite3.connect(tmp_path / "crawl.db") as database:
        database.execute(f"UPDATE fetches SET {change} WHERE reason = 'not_modified'")
        (fetched,) = database.execute("SELECT count(*) FROM fetches WHERE verdict = 'fetched'").fetchone()
        database.execute("UPDATE counters SET value = ? WHERE name = 'fetched'", (fetched,))
    database.close()
    assert problem in " ".join(found.what for found in verify(open_collection(tmp_path)).problems)

"""`periplus status` shows the size of a collection and its last crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.changing_web import BEGIN, DAY, Calendar
from crawl.crawling import catalog_of, run_crawl, settings_for, typed
from periplus.crawl.run import Request, crawl
from periplus.inspector.versions import due_by_class
from testweb import Page, Site, TestWeb


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    with TestWeb([Site("a.test", {"/": Page(links=["/gone", "http://b.test/"])})]) as web:
        run_crawl(web, home, "http://a.test/")
    return home


def test_the_json_has_exactly_these_keys(home: Path) -> None:
    found = typed("status", "--home", home, "--json").json
    assert list(found) == [
        "home",
        "urls",
        "refused_links",
        "archive",
        "segments",
        "due",
        "seeds",
        "last_run",
        "index",
        "ranks",
        "next",
        "crawl",
    ]
    assert list(found["urls"]) == ["known", "queued", "done", "refused", "failed", "fetched", "bytes"]
    assert list(found["archive"]) == ["files", "bytes"]
    assert list(found["segments"]) == ["files", "bytes", "pages", "links", "unsealed_archive_bytes"]
    assert found["due"] == {"hot": 0, "daily": 0, "weekly": 0, "monthly": 0}
    assert list(found["last_run"]) == ["run_id", "started", "ended", "outcome", "arguments", "summary"]


def test_people_get_a_table(home: Path) -> None:
    outcome = typed("status", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    rows = {line[:13].strip(): line[13:].strip() for line in outcome.out.splitlines()}
    assert rows["collection"] == str(home)
    assert rows["seeds"] == "http://a.test/"
    assert rows["URLs"] == "2 known: 1 done, 0 queued, 0 refused, 1 failed"
    assert rows["pages"].startswith("1 fetched, ")
    assert rows["links refused"] == "1 scope_host"
    assert rows["last run"].startswith("1: done, started 20")


def test_it_knows_index_and_ranks_and_says_what_to_do_next(tmp_path: Path) -> None:
    def rows() -> dict[str, str]:
        lines = typed("status", "--home", tmp_path).out.splitlines()
        return {line[:13].strip(): line[13:].strip() for line in lines}

    with TestWeb([Site("a.test", {"/": Page("A", links=["/x"]), "/x": Page("X"), "/y": Page("Y")})]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        assert (rows()["index"], rows()["next"]) == ("none", "`periplus rank`, then `periplus index`.")
        assert typed("rank", "--home", tmp_path).code == 0
        assert rows()["next"] == "`periplus index` makes the pages searchable."
        assert typed("index", "--home", tmp_path).code == 0
        assert rows()["index"].startswith("generation 1: 2 pages, built 20")
        assert rows()["next"] == "`periplus serve` starts the search site."
        run_crawl(web, tmp_path, "http://a.test/y")
    assert rows()["index"].endswith(", 1 newer page")
    assert rows()["next"] == "`periplus index` adds 1 page to the search."


def test_what_is_due_again_is_counted_by_class(tmp_path: Path) -> None:
    then = Calendar(BEGIN - 40 * DAY, BEGIN)  # long before today
    pinned = {"http://a[.]test/[xy]": "hot"}
    with TestWeb([Site("a.test", {"/": Page(links=["/x", "/y"]), "/x": Page("X"), "/y": Page("Y")})]) as web:
        settings = settings_for(web, recrawl__pinned=pinned)
        crawl(Request(tmp_path, settings, ["http://a.test/"]), clock=then)
    with catalog_of(tmp_path) as catalog:
        assert due_by_class(catalog, BEGIN) == {"hot": 2, "daily": 1, "weekly": 0, "monthly": 0}
        assert due_by_class(catalog, BEGIN - 39.5 * DAY)["daily"] == 0

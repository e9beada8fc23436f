"""The versions of a page and its recrawl schedule."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for, typed
from periplus.errors import UsageError
from periplus.inspector.url_report import url_history
from periplus.inspector.versions import version_body
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb

SEED = "http://a.test/"
DAY = 86_400.0


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Version 1 was seen three times, then it was version 2, then the server failed."""
    home = tmp_path_factory.mktemp("crawled") / "home"
    first, second = Page("First", links=["/away"], etag="v1"), Page("Second", etag="v2")
    with TestWeb([Site("a.test", {"/": first, "/away": Page(redirect="http://b.test/")})]) as web:
        for page in (first, first, Page("First", links=["/away"]), second, Page(status=500)):
            web.site("a.test").pages["/"] = page
            run_crawl(web, home, SEED, fetch__attempts=1)
    return home


def history(home: Path, url: str) -> dict[str, Any]:
    with catalog_of(home) as catalog:
        return url_history(catalog, settings_for(None), url)


def test_every_version_tells_when_it_was_seen_and_how_often(home: Path) -> None:
    first, second = history(home, SEED)["versions"]
    assert (first["version"], first["visits"], second["version"], second["visits"]) == (1, 3, 2, 1)
    assert first["first"] < first["last"] < second["first"] == second["last"]
    assert first["content_id"] != second["content_id"]


def test_the_plan_of_a_page_names_its_interval_class_and_next_visit(home: Path) -> None:
    plan = history(home, SEED)["plan"]
    assert plan["class"] == "daily"
    assert plan["next_visit"] == pytest.approx(plan["last_visit"] + plan["interval"])


def test_what_was_never_visited_has_no_plan_and_no_version(home: Path) -> None:
    found = history(home, f"{SEED}nowhere")
    assert (found["plan"], found["versions"]) == (None, [])


def test_a_redirect_is_no_version(home: Path) -> None:
    assert history(home, f"{SEED}away")["versions"] == []


@pytest.mark.parametrize(("number", "title"), [(1, b"<title>First</title>"), (2, b"<title>Second</title>")])
def test_an_older_version_can_be_read(home: Path, number: int, title: bytes) -> None:
    with catalog_of(home) as catalog:
        assert title in version_body(open_collection(home), catalog, SEED, number)


@pytest.mark.parametrize(("url", "number"), [(SEED, 3), (f"{SEED}away", 1)])
def test_a_version_that_is_not_there_is_refused(home: Path, url: str, number: int) -> None:
    with catalog_of(home) as catalog, pytest.raises(UsageError, match=f"has no version {number}"):
        version_body(open_collection(home), catalog, url, number)


def test_people_see_the_recrawl_schedule_and_the_versions(home: Path) -> None:
    text = typed("inspect", "url", SEED, "--home", home).out
    assert re.search(r"^recrawl +daily: every [\d.]+ hours, last 20", text, re.MULTILINE)
    assert re.search(r"^due +20", text, re.MULTILINE)
    assert ", 3 times" in text
    assert "version 2 " in text

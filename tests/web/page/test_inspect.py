"""A reader who may inspect URLs sees why a page is here, or why not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import run_crawl, settings_for, typed
from periplus.inspector.url_report import read_url_report
from periplus.model import Reason
from periplus.store.collection import open_collection
from search.library import index
from testweb import Page, TestWeb
from testweb import Site as WebSite
from web.engines import FACTS, FakeEngine
from web.serving import Site, searching

SEED = "http://a.test/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled")
    links = ["/moved", "/gone", "/copy", "http://other.test/"]
    pages = {
        "/": Page("Ostia", text="The harbour of Rome.", links=links),
        "/moved": Page(redirect="/"),
        "/gone": Page(status=404),
        "/copy": Page("Ostia", text="The harbour of Rome.", links=links),
    }
    with TestWeb([WebSite("a.test", pages)]) as web:
        run_crawl(web, home, SEED, fetch__attempts=1)
    index(open_collection(home))
    return home


@pytest.fixture(scope="module")
def site(home: Path) -> Iterator[Site]:
    report = partial(read_url_report, open_collection(home), settings_for(None))
    with searching(FakeEngine(), report=report) as served:
        yield served


def facts(site: Site, url: str) -> tuple[str, dict[str, str]]:
    page = site.get("/inspect", url=url).page
    labels, texts = ([one.text for one in page.select(f"main {tag}")] for tag in ("dt", "dd"))
    return page.select("h1")[0].text, {label: " ".join(text.split()) for label, text in zip(labels, texts, strict=True)}


def test_without_a_url_it_is_a_form(site: Site) -> None:
    page = site.get("/inspect").page
    assert page.select("main form input[name=url]")[0].attrs["value"] == ""
    assert page.select("main form")[0].attrs["action"] == "/inspect"


def test_a_fetched_page_shows_reason_index_and_attempts(site: Site) -> None:
    state, rows = facts(site, SEED)
    assert state == "Fetched"
    assert rows["Reason"] == "okThe page was fetched and archived."
    assert rows["Index"].startswith("In the index.")
    page = site.get("/inspect", url=SEED).page
    cells = [cell.text for cell in page.select(".attempts tbody td")]
    assert cells[1] == "200"
    assert ".warc.gz at " in cells[3]


def test_a_redirect_leads_on(site: Site) -> None:
    page = site.get("/inspect", url=f"{SEED}moved").page
    (link,) = page.select(".attempts a")
    assert link.text == SEED
    assert site.get(str(link.attrs["href"])).status == 200


def test_a_refused_url_shows_meaning_and_remedy(site: Site) -> None:
    state, rows = facts(site, "http://other.test/")
    assert state == "Not in this collection"
    assert rows["Reason"].startswith(Reason.SCOPE_HOST.value)
    assert "The host is outside the scope." in rows["Reason"]
    assert "What to do: Add the host to" in rows["Reason"]
    assert rows["Index"] == "Not in the index."


def test_a_page_that_is_gone_shows_its_status(site: Site) -> None:
    assert "404" in site.get("/inspect", url=f"{SEED}gone").page.select(".attempts")[0].text


def test_the_api_returns_what_the_command_prints(site: Site, home: Path) -> None:
    printed: dict[str, Any] = typed("inspect", "url", SEED, "--home", home, "--json").json
    assert site.get("/api/inspect", url=SEED).json == printed


def test_a_url_that_is_none_is_a_400(site: Site) -> None:
    for url in ("javascript:alert(1)", "no url", "http://", "x" * 5_000, "\0"):
        assert site.get("/inspect", url=url).status == 400
        assert site.get("/api/inspect", url=url).json["status"] == 400
    assert site.get("/api/inspect").status == 400


def test_it_is_off_unless_the_operator_allows_it() -> None:
    with searching(FakeEngine()) as public:
        assert public.get("/inspect").status == 404
        assert public.get("/api/inspect", url=SEED).status == 404
        assert "Inspect" not in public.get("/").text
        assert "/inspect" not in public.get("/page", url=FACTS.url).text


def test_the_menu_leads_to_it(site: Site) -> None:
    links = site.get("/").page.select("footer a")
    assert [str(link.attrs["href"]) for link in links if link.text == "Inspect a URL"] == ["/inspect"]

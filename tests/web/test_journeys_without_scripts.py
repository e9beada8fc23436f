"""With scripts disabled, a reader can do everything: in a real browser, on the real engine and a real collection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.config import Serving
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from periplus.search.reload import ReloadingEngine
from periplus.web.app import Sources, create_app
from search.library import Doc, index, settings, shelve
from web.serving import Site, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

OSTIA = "http://harbours.example/ostia"
_OSTIA_TEXT = "The harbour of Rome at the mouth of the Tiber."
_BODY = f"<title>Ostia</title><h1>Ostia</h1><p>{_OSTIA_TEXT}</p><h2>Ships</h2><p>Grain came by ship.</p>".encode()
_GERMAN = "Der Hafen liegt an der Mündung des Flusses, und die Schiffe bleiben im Winter dort. Harbour steht am Tor."
DOCS = [
    Doc(OSTIA, "Ostia", f"{_OSTIA_TEXT}\nShips\nGrain came by ship.", headings=("Ships",), body=_BODY),
    *(Doc(f"http://harbours.example/{n}", f"Harbour {n}", f"A harbour with {n} quays.") for n in range(18)),
    *(Doc(f"http://lights.example/{n}", f"Light {n}", f"A lighthouse above harbour {n}.") for n in range(6)),
    Doc("http://hafen.example/", "Der Hafen", _GERMAN, language="de"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    collection, chosen = shelve(home, DOCS), settings()
    index(collection)
    with closing(ReloadingEngine(collection, chosen)) as engine:
        library = PageLibrary(collection, chosen, engine.live)
        sources = Sources(engine, library, partial(read_url_report, collection, chosen))
        with serving(create_app(sources, Serving())) as served:
            yield served


@pytest.fixture
def page(browser: Browser, site: Site) -> Iterator[Page]:
    """The start page, without scripts."""
    with browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 860}) as context:
        found = context.new_page()
        found.goto(f"{site.base}/")
        yield found


def search(page: Page, query: str) -> None:
    page.get_by_label("Search for").fill(query)
    page.get_by_role("button", name="Search").click()


def titles(page: Page) -> list[str]:
    return page.locator(".hit h2").all_inner_texts()


def choose(page: Page, title: str, entry: str) -> None:
    """Chooses an entry in the menu of a result."""
    hit = page.locator(".hit", has=page.get_by_role("heading", name=title, exact=True))
    hit.locator("summary").click()
    hit.get_by_role("link", name=entry).click()


def test_1_from_the_start_page_to_a_result(page: Page) -> None:
    search(page, "harbour of Rome")
    assert titles(page)[0] == "Ostia"
    assert page.locator(".hit h2 a").first.get_attribute("href") == OSTIA


def test_2_through_the_pages_of_results_and_back(page: Page) -> None:
    search(page, "harbour")
    first = titles(page)
    page.get_by_role("link", name="Next").click()
    assert "page=2" in page.url
    assert not set(titles(page)) & set(first)
    page.go_back()
    assert titles(page) == first


def test_3_a_filter_is_set_and_taken_off(page: Page) -> None:
    search(page, "harbour")
    page.locator(".filters summary", has_text="Language").click()
    page.get_by_role("link", name=re.compile(r"German\s*1")).click()
    assert titles(page) == ["Der Hafen"]
    page.locator(".filters").get_by_role("link", name=re.compile("German")).click()
    assert len(titles(page)) == 10


def test_4_more_results_of_one_site(page: Page) -> None:
    search(page, "lighthouse harbour")
    page.get_by_role("link", name=re.compile(r"\d+ more from this site")).first.click()
    assert len(set(page.locator(".hit:not(.inner) .where b").all_inner_texts())) == 1


def test_5_a_corrected_query_can_be_searched_as_typed(page: Page) -> None:
    search(page, "lighthuose")
    assert titles(page)[0].startswith("Light")
    assert page.get_by_role("note").inner_text().startswith("Showing results for lighthouse")
    page.get_by_role("note").get_by_role("link", name="lighthuose").click()
    assert page.get_by_role("heading", level=1).inner_text().startswith("No results")


def test_6_nothing_found_leads_to_something_found(page: Page) -> None:
    search(page, '"harbour of Carthage"')
    assert page.get_by_role("heading", level=1).inner_text().startswith("No results")
    page.locator("main .notice a").first.click()
    assert titles(page)


def test_7_the_cached_copy_marks_the_words_and_shows_the_archived_page(page: Page) -> None:
    search(page, "harbour of Rome")
    choose(page, "Ostia", "Cached copy")
    assert page.locator("article mark").first.inner_text() == "harbour"
    page.get_by_role("link", name="As archived").click()
    assert page.frame_locator("iframe").get_by_text(_OSTIA_TEXT).is_visible()


def test_8_why_this_result_and_back(page: Page) -> None:
    search(page, "harbour of Rome")
    choose(page, "Ostia", "Why this result?")
    parts = [float(text) for text in page.locator("tbody tr td:nth-of-type(2)").all_inner_texts()]
    score = float(page.locator("tfoot td:nth-of-type(2)").inner_text())
    assert sum(parts) == pytest.approx(score, abs=1e-9)
    page.get_by_role("link", name="Back to the results").click()
    assert titles(page)[0] == "Ostia"


def test_9_what_is_known_about_a_page(page: Page) -> None:
    search(page, "harbour of Rome")
    choose(page, "Ostia", "About this page")
    assert page.get_by_role("heading", level=1).inner_text() == "Ostia"
    assert page.get_by_role("link", name="Ships").get_attribute("href") == f"{OSTIA}#:~:text=Ships"


def test_10_why_a_url_is_here_or_not(page: Page) -> None:
    page.get_by_role("link", name="Inspect a URL").click()
    page.get_by_label("Why is this page here, or why not?").fill("http://nowhere.example/")
    page.get_by_role("button", name="Inspect").click()
    assert page.get_by_text("Not in this collection").first.is_visible()


def test_11_settings_are_saved_and_forgotten(page: Page) -> None:
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Dark").check()
    page.get_by_label("Results per page").select_option("20")
    page.get_by_role("button", name="Save settings").click()
    search(page, "harbour")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert len(titles(page)) == 20
    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Forget settings").click()
    assert page.context.cookies() == []


def test_12_help_leads_to_examples_and_an_error_keeps_the_query(page: Page, site: Site) -> None:
    page.get_by_role("link", name="Help").click()
    page.locator(".operators a").first.click()
    assert "/search?q=" in page.url
    page.goto(f"{site.base}/search?q=harbour&page=two")
    assert page.get_by_label("Search for").input_value() == "harbour"
    page.get_by_role("button", name="Search").click()
    assert titles(page)


def test_13_results_for_other_programs(page: Page, site: Site) -> None:
    search(page, "harbour of Rome")
    for name, start in {"RSS": "<?xml", "CSV": '\ufeff"position"', "JSON": "{"}.items():
        link = page.locator(".exports").get_by_role("link", name=name).get_attribute("href")
        assert site.get(link or "").text.startswith(start)

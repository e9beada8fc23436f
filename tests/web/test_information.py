"""A reader learns how to search, what was crawled, and a webmaster how to stop the crawler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from periplus import __version__
from periplus.config import Identity, Settings
from periplus.search.query.parser import parse_query
from periplus.web.branding import Branding, load_branding
from web.engines import COLLECTION, FakeEngine
from web.serving import Site, searching
from web.test_hostile import assert_harmless


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def words(text: str) -> str:
    return " ".join(text.split())


def facts(site: Site) -> dict[str, str]:
    rows = site.get("/about").page.select("dl.figures > div")
    return {row.select("dt")[0].text: words(row.select("dd")[0].text) for row in rows}


# --- start page ---


def test_the_start_page_says_how_much_is_searched_and_how_fresh_it_is(site: Site) -> None:
    page = site.get("/").page
    assert words(page.select(".count")[0].text) == "Searches 12,345 pages. Newest page: 4 March 2026."
    assert page.select(".count time")[0].attrs["datetime"] == "2026-03-04T05:05:00Z"
    assert "autofocus" in page.select("input[name=q]")[0].attrs


@pytest.mark.parametrize(
    "path", ["/", "/search?q=x", "/nowhere", "/help", "/about", "/settings", "/search?q=x&page=two"]
)
def test_every_page_links_to_help_settings_and_about(site: Site, path: str) -> None:
    links = [str(link.attrs["href"]) for link in site.get(path).page.select("footer a")]
    assert links[:3] == ["/help", "/settings", "/about"]


# --- help ---


def test_every_example_on_the_help_page_is_a_search_without_mistakes(site: Site) -> None:
    page = site.get("/help").page
    examples = [link.text for link in page.select("table.operators a")]
    assert len(examples) >= 10
    for link in page.select("table.operators a"):
        assert site.get(str(link.attrs["href"])).status == 200
        assert parse_query(link.text).hints == ()
    text = " ".join(examples)
    for operator in ("site:", "intitle:", "inurl:", "filetype:", "lang:", "before:", "after:", " OR ", " -", '"'):
        assert operator in text


def test_the_help_page_explains_keys_and_ranking(site: Site) -> None:
    page = site.get("/help").page
    assert {key.text for key in page.select("dl.keys kbd")} >= {"/", "j", "k", "Enter", "?", "Esc"}
    assert "Why this result?" in page.select("main")[0].text


# --- about ---


def test_the_about_page_has_the_figures_of_the_collection(site: Site) -> None:
    assert facts(site) == {
        "Pages": "12,345",
        "Sites": "45",
        "Languages": "English (9,000), German (3,000), Chinese (300), other (45)",
        "Newest page": "4 March 2026",
        "Index built": "5 March 2026, 05:05 UTC",
        "Software": f"Periplus {__version__}; index 7, built by Periplus 0.1.0",
    }


def test_an_empty_index_has_no_dates(site: Site, engine: FakeEngine) -> None:
    engine.collection = replace(COLLECTION, documents=0, hosts=0, languages={}, newest=0.0, built_at=0.0, release="")
    engine.documents = 0
    found = facts(site)
    assert not {"Newest page", "Index built", "Languages"} & found.keys()
    assert found["Software"] == f"Periplus {__version__}; index 7"
    assert not site.get("/").page.select("time")


def test_a_language_without_a_name_is_shown_by_its_code(site: Site, engine: FakeEngine) -> None:
    engine.collection = replace(COLLECTION, languages={"<b>": 3, "xx": 2})
    assert facts(site)["Languages"] == "<b> (3), xx (2)"
    assert_harmless(site.get("/about").page)


def about(contact: str) -> Branding:
    return load_branding(Settings(identity=Identity(contact=contact)), Path())


@pytest.mark.parametrize(
    ("contact", "link"),
    [
        ("https://example.org/crawler", "https://example.org/crawler"),
        ("bot@example.org", "mailto:bot@example.org"),
        ("mailto:bot@example.org", "mailto:bot@example.org"),
        ("javascript:alert(1)", None),
        ("ask the harbour master", None),
        ("x@<b>", None),
    ],
)
def test_a_webmaster_finds_who_crawls_and_how_to_stop_it(engine: FakeEngine, contact: str, link: str | None) -> None:
    with searching(engine, branding=about(contact)) as site:
        page = site.get("/about").page
    assert_harmless(page, schemes=("mailto:",))
    section = page.select("#webmasters")[0]
    assert f"Periplus/{__version__} (+{contact})" in section.text
    found = [str(one.attrs["href"]) for one in section.select("a.contact")]
    assert found == ([link] if link else [])
    assert contact.removeprefix("mailto:") in section.text
    examples = [block.text for block in section.select("pre:not(.agent)")]
    assert "User-agent: Periplus\nCrawl-delay: 10" in examples[0]
    assert "User-agent: Periplus\nDisallow: /" in examples[-1]


def test_without_a_contact_the_page_says_so(site: Site) -> None:
    section = site.get("/about").page.select("#webmasters")[0]
    assert "has not given a contact" in words(section.text)
    assert f"Periplus/{__version__}" in section.text

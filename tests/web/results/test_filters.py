"""Filters are links with counts; an active filter is a chip that removes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from periplus.model import FacetCounts
from periplus.web.parameters import SearchParameters, since
from periplus.web.results.filters import chips, dates, menus
from search.library import index, opened, shelve
from search.test_facets import pages
from web.serving import Site, searching

COUNTS = FacetCounts(
    languages=(("en", 30), ("de", 12)),
    types=(("html", 42),),
    sites=(("a.example", 40), ("b.example", 2)),
    newer=((since("day"), 0), (since("week"), 3), (since("month"), 3), (since("year"), 42)),
)


def test_a_menu_offers_what_narrows_the_results_with_counts() -> None:
    found = menus(SearchParameters("harbour"), COUNTS, 42)
    assert [(menu.title, [(choice.text, choice.pages) for choice in menu.choices]) for menu in found] == [
        ("Time", [("Past week", 3), ("Past month", 3)]),
        ("Language", [("English", 30), ("German", 12)]),
        ("Site", [("a.example", 40), ("b.example", 2)]),
    ]
    assert found[1].choices[1].link == "/search?q=harbour&lang=de"


def test_a_choice_keeps_the_other_filters_and_goes_to_the_first_page() -> None:
    asked = SearchParameters("harbour", page=3, time="week", mode="or")
    found = menus(asked, COUNTS, 42)
    assert [menu.title for menu in found] == ["Language", "Site"]
    assert found[0].choices[0].link == "/search?q=harbour&time=week&lang=en&mode=or"


def test_an_active_filter_is_a_chip_that_removes_it_alone() -> None:
    found = chips(SearchParameters("harbour", page=2, time="week", lang="de", type="pdf", site="a.example"))
    assert [chip.text for chip in found] == ["Past week", "German", "PDF", "a.example"]
    assert found[1].link == "/search?q=harbour&time=week&type=pdf&site=a.example"
    assert chips(SearchParameters("harbour")) == []


def test_without_counts_there_is_no_menu() -> None:
    assert menus(SearchParameters("harbour"), FacetCounts(), 0) == []


def test_four_days_are_counted() -> None:
    assert dates() == tuple(sorted(dates(), reverse=True))
    assert len(dates()) == 4


# --- with a real index ---


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    collection = shelve(tmp_path_factory.mktemp("filters") / "c", pages())
    index(collection)
    with opened(collection) as engine, searching(engine) as served:
        yield served


def total(site: Site, link: str) -> int:
    """The number of results that a result page reports: all of them, or those with all and with some words."""
    summary = site.get(link).page.select(".summary")[0].text.partition("(")[0]
    return sum(int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", summary))


@pytest.mark.parametrize(
    "query", ["q=harbour", "q=old+harbour+tide", "q=harbuor", "q=harbour+OR+quay&lang=en", "q=tide"]
)
def test_a_link_leads_to_as_many_results_as_it_says(site: Site, query: str) -> None:
    page = site.get(f"/search?{query}").page
    links = page.select(".filters .menu a")
    assert len(links) >= 5
    for link in links:
        said = int(link.select("span")[0].text.replace(",", ""))
        assert (link.text, total(site, str(link.attrs["href"]))) == (link.text, said)


def test_more_from_a_site_leads_to_those_and_the_ones_shown(site: Site) -> None:
    page = site.get("/search?q=harbour").page
    hosts = [str(link.attrs["href"]) for hit in page.select("li.hit") for link in hit.select("h2 a")]
    checked = 0
    for link in page.select(".menu a"):
        if found := re.fullmatch(r"([\d,]+) more from this site", link.text):
            host = str(link.attrs["href"]).rpartition("=")[2]
            shown = sum(f"//{host}/" in url or f".{host}/" in url for url in hosts)
            assert total(site, str(link.attrs["href"])) == int(found[1]) + shown
            checked += 1
    assert checked

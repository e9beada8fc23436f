"""Filters are links with counts; an active filter is a chip that removes it."""

from __future__ import annotations

from periplus.model import FacetCounts
from periplus.web.filters import chips, dates, menus
from periplus.web.parameters import SearchParameters, since

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

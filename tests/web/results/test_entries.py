"""A page of results shows the number of results, the parsed query and links to other pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.model import Hit, Results
from periplus.web.parameters import SearchParameters
from periplus.web.results.entries import Entry, count, missing_everywhere, paging, understood
from periplus.web.results.entries import entries as grouped_entries
from web.engines import HARBOUR, FakeEngine


def found(total: int = 1, *, page: int = 1, size: int = 15, exact: bool = True, hits: int = 15) -> Results:
    results = FakeEngine(hits=hits * [HARBOUR], total=total, exact=exact).search("harbour")
    return replace(results, page=page, size=size)


@pytest.mark.parametrize(
    ("total", "exact", "said"),
    [
        (0, True, "0 results"),
        (1, True, "1 result"),
        (1_234_567, True, "1,234,567 results"),
        (1_000, False, "At least 1,000 results"),
        (1, False, "At least 1 result"),
    ],
)
def test_the_count_says_no_more_than_is_known(total: int, exact: bool, said: str) -> None:
    assert count(found(total, exact=exact)) == said


@pytest.mark.parametrize(
    ("total", "complete", "said"),
    [
        (352, 12, "12 pages have all your words, 340 some"),
        (3_001, 2_000, "2,000 pages have all your words, 1,001 some"),
        (2, 1, "1 page has all your words, 1 some"),
        (340, 0, "No page has all your words. 340 partial matches"),
        (1, 0, "No page has all your words. 1 partial match"),
    ],
)
def test_the_count_tells_pages_with_all_words_from_others(total: int, complete: int, said: str) -> None:
    assert count(replace(found(total), with_all_words=complete)) == said


def test_how_the_query_was_read_is_said_when_it_differs() -> None:
    assert understood(SearchParameters("a  b "), replace(found(), understood="a b")) == ""
    assert understood(SearchParameters('a "b'), replace(found(), understood="a b")) == "a b"
    assert understood(SearchParameters("a b", lang="de"), replace(found(), understood="lang:de a b")) == ""


def test_words_that_all_results_lack_are_named_when_no_page_has_all_words() -> None:
    lacking = [("new", "old"), ("old",), ("mole", "old")]
    hits = tuple(replace(HARBOUR, all_words=False, missing=missing) for missing in lacking)
    results = replace(found(), hits=hits, with_all_words=0)
    assert missing_everywhere(results) == ("old",)
    assert missing_everywhere(replace(results, with_all_words=1)) == ()
    assert missing_everywhere(replace(results, hits=())) == ()


# --- paging ---


def numbers(total: int, page: int) -> list[int]:
    return [number for number, _ in paging(SearchParameters("x"), found(total, page=page)).numbers]


def test_one_page_needs_no_links() -> None:
    links = paging(SearchParameters("x"), found(15))
    assert (links.previous, links.numbers, links.next) == ("", (), "")


def test_the_first_the_middle_and_the_last_page() -> None:
    assert numbers(100, 1) == [1, 2, 3, 4, 5, 6, 7]
    assert numbers(1_000, 1) == list(range(1, 10))
    assert numbers(1_000, 30) == list(range(26, 35))
    assert numbers(1_000, 67) == list(range(59, 68))
    assert paging(SearchParameters("x"), found(1_000, page=67)).next == ""
    assert paging(SearchParameters("x"), found(1_000, page=2)).previous == "/search?q=x"
    assert paging(SearchParameters("x"), found(1_000, page=2)).next == "/search?q=x&page=3"


def test_no_link_goes_beyond_page_one_hundred() -> None:
    assert numbers(1_000_000, 100) == list(range(92, 101))
    assert paging(SearchParameters("x"), found(1_000_000, page=100)).next == ""


def test_when_the_total_is_a_lower_bound_a_full_page_has_a_next_one() -> None:
    assert paging(SearchParameters("x"), found(15, exact=False)).next == "/search?q=x&page=2"
    assert paging(SearchParameters("x"), found(3, exact=False, hits=3)).next == ""


def test_beyond_the_end_the_way_back_leads_to_the_end() -> None:
    assert paging(SearchParameters("x"), found(20, page=50)).previous == "/search?q=x&page=2"


@given(st.integers(0, 10_000), st.integers(1, 100), st.integers(1, 100), st.booleans())
def test_every_page_number_is_a_valid_page(total: int, page: int, size: int, exact: bool) -> None:
    links = paging(SearchParameters("x", size=size), found(total, page=page, size=size, exact=exact))
    shown = [number for number, _ in links.numbers]
    assert shown == sorted(set(shown))
    assert len(shown) <= 9
    assert all(1 <= number <= 100 for number in shown)


# --- entries ---


def entries(parameters: SearchParameters, hits: list[Hit]) -> list[Entry]:
    return grouped_entries(parameters, hits, {})


def test_every_result_with_only_some_words_is_marked() -> None:
    some = replace(HARBOUR, all_words=False)
    marked = [entry.is_partial for entry in entries(SearchParameters("x"), [HARBOUR, some, HARBOUR, some])]
    assert marked == [False, True, False, True]
    assert entries(SearchParameters("x"), []) == []


def test_a_page_without_a_title_is_called_by_its_address() -> None:
    for title in ("", "  ", "\u202e"):
        assert entries(SearchParameters("x"), [replace(HARBOUR, title=title)])[0].title == HARBOUR.url


@pytest.mark.parametrize(
    ("mime", "badge"), [("application/pdf", "PDF"), ("text/plain", "Text"), ("text/html", ""), ("", ""), ("<b>", "")]
)
def test_what_is_no_web_page_is_marked(mime: str, badge: str) -> None:
    assert entries(SearchParameters("x"), [replace(HARBOUR, mime=mime)])[0].badge == badge


@pytest.mark.parametrize(
    ("declared", "shown"), [("en", ""), ("pt-BR", "pt-BR"), ("", ""), ('en" onload="x', ""), ("e", ""), ("??", "")]
)
def test_a_text_in_another_language_is_marked_for_screen_readers(declared: str, shown: str) -> None:
    assert entries(SearchParameters("x"), [replace(HARBOUR, language=declared)])[0].language == shown


def test_the_language_is_shown_where_it_differs_from_that_of_most_results() -> None:
    german = replace(HARBOUR, language="de")
    found_ = entries(SearchParameters("x"), [HARBOUR, german, HARBOUR])
    assert [entry.language_name for entry in found_] == ["", "German", ""]
    assert [entry.language_name for entry in entries(SearchParameters("x"), [german, german])] == ["", ""]


def test_the_date_that_a_page_states_is_shown_and_that_of_the_crawl_is_not() -> None:
    dated = replace(HARBOUR, date=1_442_880_000.0)
    assert [entry.day for entry in entries(SearchParameters("x"), [dated, HARBOUR])] == ["22 Sep 2015", ""]


def test_two_other_addresses_are_shown_and_the_rest_counted() -> None:
    others = tuple(f"https://mirror{number}.example/" for number in range(13))
    entry = entries(SearchParameters("x"), [replace(HARBOUR, same_content=others)])[0]
    assert entry.others == tuple((url, url) for url in others[:2])
    assert entry.others_left_out == 11


def test_the_same_search_can_be_kept_to_one_site() -> None:
    assert entries(SearchParameters("a b", lang="de"), [HARBOUR])[0].site_link == (
        "/search?q=a+b&lang=de&site=harbours.example"
    )
    assert entries(SearchParameters("a site:b.example"), [HARBOUR])[0].site_link == ""
    assert entries(SearchParameters("a", site="b.example"), [HARBOUR])[0].site_link == ""


def test_more_from_a_site_counts_what_this_page_does_not_show() -> None:
    hits = [HARBOUR, HARBOUR, replace(HARBOUR, host="www.harbours.example"), replace(HARBOUR, host="a.example")]
    counts = {"harbours.example": 12, "a.example": 1}
    more = {
        entry.site_link.rpartition("=")[2]: entry.site_more
        for entry in grouped_entries(SearchParameters("x"), hits, counts)
    }
    assert more == {"harbours.example": 9, "www.harbours.example": 0, "a.example": 0}


def test_every_result_has_the_pages_about_it() -> None:
    about = dict(entries(SearchParameters("new harbour", lang="de"), [HARBOUR])[0].about)
    assert list(about) == ["Cached copy", "Why this result?", "Pages like this", "About this page", "Inspect"]
    assert about["Why this result?"].startswith(
        "/why?q=new+harbour&lang=de&url=https://harbours.example/mediterranean/ostia%2520antica/%3Fview%3Dplan"
    )
    assert about["Cached copy"].endswith("&q=new+harbour")

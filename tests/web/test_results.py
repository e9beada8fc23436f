"""A page of results shows the number of results, the parsed query and links to other pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.model import Results
from periplus.web.parameters import SearchParameters
from periplus.web.results import count, entries, paging, suggestions, understood
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
        (340, 0, "No page has all your words, 340 some"),
    ],
)
def test_the_count_tells_pages_with_all_words_from_others(total: int, complete: int, said: str) -> None:
    assert count(replace(found(total), with_all_words=complete)) == said


def test_how_the_query_was_read_is_said_when_it_differs() -> None:
    assert understood(replace(found(), query="a  b ", understood="a b")) == ""
    assert understood(replace(found(), query='a "b', understood="a b")) == "a b"


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
    ("declared", "shown"), [("en", "en"), ("pt-BR", "pt-BR"), ("", ""), ('en" onload="x', ""), ("e", ""), ("??", "")]
)
def test_a_language_is_shown_if_it_is_one(declared: str, shown: str) -> None:
    assert entries(SearchParameters("x"), [replace(HARBOUR, language=declared)])[0].language == shown


def test_ten_other_addresses_are_shown_and_the_rest_counted() -> None:
    others = tuple(f"https://mirror{number}.example/" for number in range(13))
    entry = entries(SearchParameters("x"), [replace(HARBOUR, same_content=others)])[0]
    assert entry.others == tuple((url, url) for url in others[:10])
    assert entry.others_left_out == 3


def test_the_same_search_can_be_kept_to_one_site() -> None:
    assert entries(SearchParameters("a b"), [HARBOUR])[0].more == "/search?q=a+b+site%3Aharbours.example"
    assert entries(SearchParameters("a site:b.example"), [HARBOUR])[0].more == ""


# --- nothing found ---


def test_one_plain_word_has_no_variations() -> None:
    out = suggestions(SearchParameters("harbour"))
    assert (out.any_word, out.plain) == ("", "")


def test_several_words_can_be_searched_one_by_one() -> None:
    assert suggestions(SearchParameters("new harbour")).any_word == "/search?q=new+harbour&mode=or"
    assert suggestions(SearchParameters("new harbour", mode="or")).any_word == ""


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ('"new harbour" -rome', "new harbour"),
        ("new site:a.example", "new"),
        ("(new OR old) harbour", "new old harbour"),
        ("-rome", ""),
        ("well-known e-mail", ""),
    ],
)
def test_operators_can_be_left_out(query: str, plain: str) -> None:
    out = suggestions(SearchParameters(query))
    assert (out.plain_query if out.plain else "") == plain

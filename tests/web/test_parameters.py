"""A parameter is read, clamped to its range, or answered with an error message."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import UsageError
from periplus.search.query.parser import parse_query
from periplus.web.parameters import AGES, API_SIZE, TYPES, SearchParameters, read, read_url, since


def test_a_query_alone_is_enough() -> None:
    assert read({"q": "harbour"}) == SearchParameters("harbour", page=1, size=10, explain=False, mode="auto")


def test_everything_can_be_said() -> None:
    given_ = {"q": " new  harbour ", "page": "3", "size": "50", "explain": "1", "mode": "or", "exact": "1"}
    assert read(given_) == SearchParameters("new  harbour", 3, 50, True, "or", exact=True)


def test_an_empty_value_means_that_nothing_was_said() -> None:
    assert read(dict.fromkeys(("q", "page", "size", "explain", "mode", "exact"), "")) == SearchParameters("")


@pytest.mark.parametrize(
    ("text", "page", "size"),
    [("0", 1, 1), ("-5", 1, 1), ("1", 1, 1), ("+7", 7, 7), ("007", 7, 7), ("100", 100, 100), ("101", 100, 100)],
)
def test_a_number_outside_its_range_is_moved_into_it(text: str, page: int, size: int) -> None:
    asked = read({"q": "x", "page": text, "size": text})
    assert (asked.page, asked.size) == (page, size)


@pytest.mark.parametrize("digits", [10, 100, 5_000])
def test_a_number_of_any_length_is_a_number(digits: int) -> None:
    assert read({"page": "9" * digits}).page == 100
    assert read({"page": "-" + "9" * digits}).page == 1
    assert read({"page": "0" * digits + "2"}).page == 2


@pytest.mark.parametrize("text", ["two", "1.5", "1e3", "0x10", "1_000", " 5", "5 ", "٣", "１", "--1", "+", "NaN", "\0"])  # noqa: RUF001
def test_what_is_no_number_is_explained(text: str) -> None:
    for name in ("page", "size"):
        with pytest.raises(UsageError, match=rf"invalid page {'number' if name == 'page' else 'size'} .* \(1-100\)"):
            read({"q": "x", name: text})


@pytest.mark.parametrize(("text", "on"), [("1", True), ("true", True), ("ON", True), ("0", False), ("no", False)])
def test_a_switch_has_the_usual_words(text: str, on: bool) -> None:
    assert read({"explain": text}).explain is on


def test_other_words_are_explained() -> None:
    with pytest.raises(UsageError, match=r'invalid value "maybe" for explain \(1 or 0\)'):
        read({"explain": "maybe"})
    with pytest.raises(UsageError, match=r'invalid mode "xor" \(auto, and, or\)'):
        read({"mode": "xor"})


def test_a_long_mistake_is_repeated_in_part() -> None:
    with pytest.raises(UsageError) as caught:
        read({"page": 5_000 * "x"})
    assert len(str(caught.value)) < 200


def test_a_cached_page_must_be_named() -> None:
    assert read_url({"url": " https://a.example/ "}) == "https://a.example/"
    with pytest.raises(UsageError, match="missing URL"):
        read_url({})
    with pytest.raises(UsageError, match="5,000 characters"):
        read_url({"url": 5_000 * "x"})


@given(
    st.builds(
        SearchParameters,
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool),
        st.integers(1, 100),
        st.integers(1, 100),
        mode=st.sampled_from(["auto", "and", "or"]),
        exact=st.booleans(),
        time=st.sampled_from(["", *AGES]),
        lang=st.sampled_from(["", "en", "fil"]),
        type=st.sampled_from(["", *TYPES]),
        site=st.sampled_from(["", "a.example", "[::1]"]),
    )
)
def test_a_link_has_the_same_parameters(asked: SearchParameters) -> None:
    values = parse_qs(urlsplit(asked.link(asked.page)).query, keep_blank_values=True)
    assert read({name: value[-1] for name, value in values.items()}) == asked


def test_the_same_search_has_the_same_short_address() -> None:
    assert SearchParameters("a b").link() == "/search?q=a+b"
    assert SearchParameters("a b", page=7).link(1) == "/search?q=a+b"
    assert SearchParameters("a", size=50, mode="or").link(2) == "/search?q=a&mode=or&size=50&page=2"
    assert SearchParameters("a").link(query="b", mode="or") == "/search?q=b&mode=or"
    assert SearchParameters("a").link(exact=True) == "/search?q=a&exact=1"
    assert SearchParameters("a", exact=True).link(2) == "/search?q=a&exact=1&page=2"


def test_a_page_has_ten_results_and_a_json_document_fifteen() -> None:
    assert (read({"q": "x"}).size, read({"q": "x"}, API_SIZE).size) == (10, 15)
    assert (read({"q": "x", "size": "7"}).size, read({"q": "x", "size": "7"}, API_SIZE).size) == (7, 7)


# --- filters ---

FILTERED = SearchParameters("harbour", lang="de", type="pdf", site="a.example")
OPERATORS = "lang:de filetype:pdf site:a.example"


def test_filters_become_operators_and_the_box_keeps_its_text() -> None:
    assert FILTERED.search_text == f"{OPERATORS} (harbour)"
    assert SearchParameters("x", time="week").search_text == f"after:{since('week')} (x)"
    assert SearchParameters("a OR b").search_text == "a OR b"


@pytest.mark.parametrize(
    ("query", "understood"),
    [("harbour", "harbour"), ("new harbour", "new harbour"), ("a OR b", "a OR b"), ("foo OR", "foo"), ('"a b', "a b"),
     ("(a OR b) (c OR d)", "(a OR b) (c OR d)"), ("foo) bar", "foo bar"), ("((a", "a"), ("-rome new", "-rome new")],
)  # fmt: skip
def test_any_query_is_understood_with_filters_as_without(query: str, understood: str) -> None:
    asked = SearchParameters(query, lang="de", site="a.example")
    assert asked.without_filters(parse_query(asked.search_text).understood) == understood
    assert parse_query(query).understood == understood


def test_a_very_long_query_keeps_its_filters() -> None:
    asked = SearchParameters("word " * 1_000, lang="de")
    assert parse_query(asked.search_text).understood.startswith("lang:de word word")


def test_a_text_without_the_filters_stays_as_it_is() -> None:
    assert FILTERED.without_filters("other") == "other"
    assert SearchParameters("(a)").without_filters("(a)") == "(a)"
    assert FILTERED.without_filters("") == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("time", "decade"), ("lang", "english"), ("lang", "e"),
     ("type", "exe"), ("site", "a b"), ("site", '"'), ("site", "(")],
)  # fmt: skip
def test_an_invalid_filter_is_explained(name: str, value: str) -> None:
    with pytest.raises(UsageError, match="invalid"):
        read({"q": "x", name: value})


def test_a_query_with_alternatives_is_filtered_as_a_whole() -> None:
    asked = SearchParameters("a OR b", lang="de")
    assert parse_query(asked.search_text).understood == "lang:de (a OR b)"


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("a OR b", "site:a.test (a OR b)"),
        ("(a) OR (b)", "site:a.test ((a) OR (b))"),
        ("a) OR (b", "site:a.test (a  OR  b)"),
        ("a) OR b", "site:a.test (a  OR b)"),
        ("(a OR b", "site:a.test ( a OR b)"),
    ],
)
def test_no_parenthesis_of_a_query_escapes_the_filters(query: str, searched: str) -> None:
    assert read({"q": query, "site": "a.test"}).search_text == searched

"""Template lines of a site are removed from the text of its pages, and other lines stay."""

from __future__ import annotations

import pytest

from periplus.index.documents.templates import FEWEST, Templates

HOST = "a.test"
MENU, NOTICE = "Home\nCharts\nPilots", "All charts are sold as they are.\nSubscribe to our notices"


def chart(number: int) -> str:
    return f"Chart {number}\nSoundings\nDepths off cape {number}, in fathoms, with the rocks of {number} marked."


def page(number: int) -> str:
    return f"{MENU}\n{chart(number)}\n{NOTICE}"


def site(pages: int) -> list[tuple[str, str]]:
    return [(HOST, page(number)) for number in range(pages)]


def test_lines_that_most_pages_begin_and_end_with_are_removed() -> None:
    assert Templates(site(8)).strip(HOST, page(3)) == chart(3)


def test_a_page_that_was_not_compared_is_stripped_like_the_others() -> None:
    assert Templates(site(8)).strip(HOST, page(700)) == chart(700)


def test_a_common_heading_within_the_text_stays() -> None:
    assert "\nSoundings\n" in Templates(site(8)).strip(HOST, page(3))


def test_what_only_some_pages_share_stays() -> None:
    tide = "Tide tables are read at noon."
    texts = [f"{tide}\n{chart(n)}" if n < 5 else chart(n) for n in range(10)]
    assert Templates((HOST, text) for text in texts).strip(HOST, texts[0]) == texts[0]


def test_a_line_that_stands_twice_on_one_page_is_not_common() -> None:
    texts = ["Again\nAgain\nAgain\n" + chart(0), *map(chart, range(1, 8))]
    assert Templates((HOST, text) for text in texts).strip(HOST, texts[0]) == texts[0]


@pytest.mark.parametrize("pages", [1, FEWEST - 1])
def test_too_few_pages_have_no_template(pages: int) -> None:
    assert Templates(site(pages)).strip(HOST, page(0)) == page(0)
    assert Templates(site(FEWEST)).strip(HOST, page(0)) == chart(0)


def test_templates_of_one_site_do_not_affect_another() -> None:
    assert Templates(site(8)).strip("b.test", page(3)) == page(3)


def test_duplicates_of_a_page_keep_their_text() -> None:
    """They differ in a counter only: to take off what they share would leave the counter."""
    long = "The whole story of the cape, told on every page of this site. " * 10
    texts = [f"Visitor {number}\n{long}" for number in range(9)]
    assert Templates((HOST, text) for text in texts).strip(HOST, texts[2]) == texts[2]


def test_a_page_that_is_nothing_but_template_keeps_it() -> None:
    assert Templates(site(8)).strip(HOST, f"{MENU}\n{NOTICE}") == f"{MENU}\n{NOTICE}"


def test_the_footer_of_a_page_of_many_lines_is_found() -> None:
    texts = ["\n".join(f"{n} {line}" for line in range(9_000)) + "\nCopyright" for n in range(6)]
    assert Templates((HOST, text) for text in texts).strip(HOST, texts[1]) == texts[1].removesuffix("\nCopyright")


@pytest.mark.parametrize("text", ["", "\n", "\ud800", "\n".join(["x"] * 5_000)])
def test_any_text_is_taken(text: str) -> None:
    assert Templates([(HOST, text)] * 8).strip(HOST, text) == text

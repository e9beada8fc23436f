"""Elements are classified by their names and roles."""

from __future__ import annotations

import pytest
import turbohtml

from periplus.parse.maintext import APART, ASIDE, MAIN, PartMarker


def _tag(attributes: str, tag: str = "div") -> str:
    document = turbohtml.parse(f"<{tag} id=probe {attributes}>x</{tag}>")
    (element,) = document.select("#probe")
    if "id=" in attributes:
        document = turbohtml.parse(f"<{tag} {attributes}>x</{tag}>")
        (element,) = document.select("body > *")
    PartMarker().mark(document)
    return element.tag


@pytest.mark.parametrize(
    ("attributes", "part"),
    [
        ("class=sidebar", ASIDE),
        ("class='col-3 site-Sidebar'", ASIDE),
        ("class=leftNavigation", ASIDE),
        ("class=page_footer", ASIDE),
        ("id=comments", ASIDE),
        ("role=navigation", ASIDE),
        ("class=byline", APART),
        ("class='byline menu'", ASIDE),
        ("class=article-body", MAIN),
        ("class=articleBody", MAIN),
        ("class='post content menu'", MAIN),
        ("role=main class=menu", MAIN),
        ("itemprop=articleBody", MAIN),
        ("class=byline id=footer", ASIDE),
        ("class=navigable", "div"),
        ("class=''", "div"),
        ("role=presentation", "div"),
    ],
)
def test_a_block_is_known_by_its_names(attributes: str, part: str) -> None:
    assert _tag(attributes) == part


@pytest.mark.parametrize("tag", ["span", "p", "li", "h1"])
def test_words_and_lines_keep_their_tags(tag: str) -> None:
    assert _tag("class=menu", tag) == tag


def test_the_cache_of_names_is_bounded() -> None:
    marker = PartMarker()
    for number in range(25_000):
        marker.mark(turbohtml.parse(f"<div class=c{number}>"))
    assert 0 < len(marker._known) <= 20_001

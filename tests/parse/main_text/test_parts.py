"""Elements are classified by their names and roles."""

from __future__ import annotations

import pytest
import turbohtml

from periplus.parse.main_text.parts import BOILERPLATE, FRAME, LEAD, MAIN, NAVIGATION, SECONDARY, PartMarker


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
        ("class=sidebar", NAVIGATION),
        ("class='col-3 site-Sidebar'", NAVIGATION),
        ("class=leftNavigation", NAVIGATION),
        ("role=navigation", NAVIGATION),
        ("class=page_footer", BOILERPLATE),
        ("id=comments", BOILERPLATE),
        ("class=byline", BOILERPLATE),
        ("class='widget byline menu'", NAVIGATION),
        ("class=jp-relatedposts", BOILERPLATE),
        ("class='noticias relacionadas'", BOILERPLATE),
        ("class=autorenbox", BOILERPLATE),
        ("class=social-share-bar", BOILERPLATE),
        ("class=wp-caption", SECONDARY),
        ("class=entry-header", FRAME),
        ("class=entry-header id=comments", BOILERPLATE),
        ("class=teaser", BOILERPLATE),
        ("class=teaser-text", LEAD),
        ("class=teaser itemprop=description", LEAD),
        ("class=article-body", MAIN),
        ("class=articleBody", MAIN),
        ("class='post content menu'", MAIN),
        ("class='hentry tag-social category-comments'", MAIN),
        ("role=main class=menu", MAIN),
        ("itemprop=articleBody", MAIN),
        ("class=navigable", "div"),
        ("class=relative", "div"),
        ("class=commentary", "div"),
        ("class=language-python", "div"),
        ("class=footnote", "div"),
        ("class=subscript", "div"),
        ("id=shared-objects", "div"),
        ("id=authorization", "div"),
        ("class=''", "div"),
        ("role=presentation", "div"),
    ],
)
def test_a_block_is_known_by_its_names(attributes: str, part: str) -> None:
    assert _tag(attributes) == part


@pytest.mark.parametrize("tag", ["span", "li", "h1"])
def test_words_and_lines_keep_their_tags(tag: str) -> None:
    assert _tag("class=menu", tag) == tag


def test_a_paragraph_is_known_by_its_class() -> None:
    assert _tag("class=newsletter", "p") == BOILERPLATE


def test_an_article_is_content_unless_it_is_a_teaser() -> None:
    assert _tag("class='widget menu'", "article") == "article"
    assert _tag("class=related-teaser", "article") == BOILERPLATE


@pytest.mark.parametrize(
    ("attributes", "tag"),
    [
        ("id=comments", "section"),
        ("id=comments", "dl"),
        ("class=section id=comments", "div"),
        ("id=comments(string)", "div"),
        ("id=http.cookies", "div"),
        ("id=module-list", "div"),
    ],
)
def test_the_id_of_a_section_or_of_an_entry_says_nothing_about_its_part(attributes: str, tag: str) -> None:
    assert _tag(attributes, tag) == tag


@pytest.mark.parametrize("name", ["class", "id"])
def test_the_cache_of_names_is_bounded(name: str) -> None:
    marker = PartMarker()
    for number in range(25_000):
        marker.mark(turbohtml.parse(f"<div {name}=c{number}>"))
    assert 0 < len(marker._by_class) + len(marker._by_id) <= 20_001

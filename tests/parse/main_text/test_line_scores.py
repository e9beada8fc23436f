"""The main text is extracted, and depends on the page alone."""

from __future__ import annotations

import pytest

from parse.documents import parsed

PARAGRAPHS = [
    "The harbour of Muziris lies at the mouth of a river, two thousand stadia from the sea by way of the canal.",
    "Ships come here from Arabia with the summer wind and leave in the month of Tybi with pepper and pearls.",
    "A pilot waits behind the sandbank, for the current is strong and the channel turns twice before the town.",
]
ARTICLE = "".join(f"<p>{words}</p>" for words in PARAGRAPHS)
MENU = "<ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(12)) + "</ul>"
FOOTER = "<p>Copyright 2024 by the pilots of Muziris. All rights reserved, and all wrongs as well.</p>"


def test_the_text_between_menu_and_footer_is_the_main_text() -> None:
    page = parsed(f"<nav>{MENU}</nav><main><h1>Muziris</h1>{ARTICLE}</main><footer>{FOOTER}</footer>")
    assert page.main_text == "Muziris\n" + "\n".join(PARAGRAPHS)
    assert "Section 3" in page.text
    assert "Copyright" in page.text


@pytest.mark.parametrize(
    "page",
    [
        "<div class=site-navigation>{menu}</div><div class=content>{text}</div><div id=page-footer>{foot}</div>",
        "<div role=navigation>{menu}</div><div>{text}</div><div role=contentinfo>{foot}</div>",
        "<div class=left>{menu}</div><div itemprop=articleBody>{text}</div><div class=copyright>{foot}</div>",
        "{menu}<article>{text}</article><div class=commentList>{foot}</div>",
        "<table><tr><td class=sidebar>{menu}</td><td>{text}</td></tr></table><div class=siteFooter>{foot}</div>",
    ],
)
def test_parts_are_known_by_many_names(page: str) -> None:
    found = parsed(page.format(menu=MENU, text=ARTICLE, foot=FOOTER)).main_text
    assert found == "\n".join(PARAGRAPHS)


def test_a_page_that_calls_itself_a_sidebar_still_has_its_text() -> None:
    page = parsed(f"<div class='page has-sidebar menu'>{ARTICLE}</div>")
    assert page.main_text == "\n".join(PARAGRAPHS)


def test_a_list_of_links_has_no_main_text_and_keeps_all() -> None:
    page = parsed(f"<nav>{MENU}</nav>")
    assert page.main == ()
    assert page.main_text == page.text


def test_a_chapter_that_only_lists_its_sections_keeps_all() -> None:
    page = parsed(f"<h1>Cargo</h1><p>Contents</p>{MENU}")
    assert page.main_text == page.text


def test_headings_stay_with_their_text() -> None:
    page = parsed(f"<nav>{MENU}</nav><main><h1>Muziris</h1>{ARTICLE}<h2>Cargo</h2>{ARTICLE}</main>")
    assert "Cargo" in page.main_text.split("\n")


def test_code_and_tables_of_a_manual_are_main_text() -> None:
    table = "<table>" + "".join(f"<tr><td>--flag-{n}</td><td>Sets the flag number {n}</td></tr>" for n in range(5))
    page = parsed(f"<nav>{MENU}</nav><div class=body>{ARTICLE}<pre>sail --now\n  --west</pre>{table}</table></div>")
    assert "sail --now" in page.main_text
    assert "--flag-3" in page.main_text


def test_reading_a_page_again_gives_the_same_whatever_was_read_before() -> None:
    html = f"<div class=x1>{MENU}</div><div class=x2>{ARTICLE}</div>"
    before = parsed(html)
    for number in range(50):
        parsed(f"<div class=x1>{ARTICLE}{number}</div><div class=x2>{MENU}</div>")
    assert parsed(html) == before


def test_no_break_spaces_are_spaces() -> None:
    page = parsed(f"<p>&nbsp;one&nbsp;&nbsp;two&nbsp;</p><p>&nbsp;</p>{ARTICLE}")
    assert page.text.split("\n")[:2] == ["one two", PARAGRAPHS[0]]


BIOGRAPHY = (
    "Arrian has sailed the western coast for thirty years and writes about harbours, winds and the price of pepper."
)
NEWS = [
    "Pirates seen off the coast of Limyrike for the third time since the beginning of the summer",
    "The price of pepper falls to a new low after the arrival of forty ships from Berenice",
    "A new lighthouse is to be built at Barygaza, and every ship that enters will pay for it",
]
LINKS = "".join(f"<li><a href=/{number}>{title}</a></li>" for number, title in enumerate(NEWS))
CARDS = "".join(
    f"<div><a href=/{number}>{title}</a><p>{title}. Read on.</p></div>" for number, title in enumerate(NEWS)
)
FORM = "<form><p>Your e-mail address will not be published, and required fields are marked.</p><textarea></textarea>"
READERS = "".join(
    f"<li><b>Nearchus</b><p>I was there in the month of Tybi. {words}</p></li>" for words in PARAGRAPHS[:2]
)


@pytest.mark.parametrize(
    "addition",
    [
        pytest.param("<p>Share this: <a href=/f>Facebook</a>, <a href=/m>e-mail</a></p>", id="line to share"),
        pytest.param("<div class=sociable><p>Be sociable, tell others about this page!</p></div>", id="box to share"),
        pytest.param("<p>Diesen Artikel teilen, drucken oder versenden</p>", id="line to share in German"),
        pytest.param("<p>Tags: <a href=/h>harbours</a>, <a href=/p>pepper</a></p>", id="tag line"),
        pytest.param("<div class=postmetadata>This entry was filed by Arrian on a Tuesday in May</div>", id="metadata"),
        pytest.param(f"<div class=authorbox><p>{BIOGRAPHY}</p></div>", id="author box"),
        pytest.param(
            f"<div class=author-info><h3>Arrian</h3><p>{BIOGRAPHY} {BIOGRAPHY}</p></div>", id="long author box"
        ),
        pytest.param(f"<div class=teaser-list>{CARDS}</div>", id="teasers"),
        pytest.param(f"<div class=jp-relatedposts><h3>Like this</h3>{CARDS}</div>", id="related posts"),
        pytest.param(f"<div class=Relacionadas><h2>Veja também</h2>{CARDS}</div>", id="related posts in Portuguese"),
        pytest.param(f"<h3>Mehr zum Thema</h3><ul class=links>{LINKS}</ul>", id="heading of related links"),
        pytest.param("<p>À lire aussi : les pirates de la côte malabare</p>", id="line to another article"),
        pytest.param(
            "<p class=newsletter-promo>Get the daily letter of the harbour, free of charge.</p>", id="newsletter"
        ),
        pytest.param(f"<div id=comments><ol>{READERS}</ol></div>", id="comments"),
        pytest.param(f"<div>{FORM}</form></div>", id="comment form"),
        pytest.param("<p class=nocomments>Comments are closed on this page.</p>", id="closed comments"),
        pytest.param(
            f"<div class=cookie-notice><p>We use cookies to give you the best service. {BIOGRAPHY}</p></div>",
            id="cookie notice",
        ),
        pytest.param("<p>Photo by Nearchus, taken in the harbour</p>", id="photo credit"),
    ],
)
def test_what_sites_add_to_an_article_is_not_main_text(addition: str) -> None:
    text = f"<h1>Muziris</h1>{ARTICLE * 5}{addition}"
    page = parsed(f"<nav>{MENU}</nav><article>{text}</article><footer>{FOOTER}</footer>")
    assert page.main_text == "Muziris\n" + "\n".join(PARAGRAPHS * 5)


@pytest.mark.parametrize(
    "lead",
    [
        "<div class=teaser-text itemprop=description><p>{}</p></div>",
        "<header><h2 class=article-deck>Pepper</h2><div class=entry-excerpt><p>{}</p></div></header>",
        "<p class=article-teaser>{}</p>",
    ],
)
def test_the_lead_of_an_article_is_main_text(lead: str) -> None:
    words = "How a ship finds its way through the sandbanks, and what it brings home in the month of Tybi."
    page = parsed(f"<nav>{MENU}</nav><article>{lead.format(words)}<div class=article-body>{ARTICLE}</div></article>")
    assert words in page.main_text


def test_a_long_list_of_comments_does_not_replace_the_article() -> None:
    comments = READERS * 2
    page = parsed(f"<nav>{MENU}</nav><article>{ARTICLE * 3}</article><div id=comments><ol>{comments}</ol></div>")
    assert page.main_text == "\n".join(PARAGRAPHS * 3)


def test_a_form_around_the_page_does_not_hide_its_text() -> None:
    page = parsed(f"<form id=aspnetForm><div class=menu>{MENU}</div><div>{ARTICLE}</div></form>")
    assert page.main_text == "\n".join(PARAGRAPHS)


def test_a_page_whose_teaser_is_its_text_keeps_it() -> None:
    page = parsed(f"<div class=menu>{MENU * 4}</div><div class='teaser single-news'>{ARTICLE}</div>")
    assert page.main_text.endswith("\n".join(PARAGRAPHS))


def test_a_heading_without_text_is_not_main_text() -> None:
    page = parsed(f"<nav>{MENU}</nav><main>{ARTICLE}<h2>Kommende Veranstaltungen</h2></main><footer>{FOOTER}</footer>")
    assert page.main_text == "\n".join(PARAGRAPHS)


@pytest.mark.parametrize(
    "entry",
    [
        "<ul>"
        + "".join(f"<li><a href=/{n}>sail_{n}()</a> steers by the wind of month {n}.</li>" for n in range(9))
        + "</ul>",
        "<table class=indextable>"
        + "".join(
            f"<tr><td><a href=/{n}>anchor_{n}</a></td><td>Drops the anchor number {n}</td></tr>" for n in range(9)
        )
        + "</table>",
        "<dl class=function>"
        + "".join(f"<dt id=row.{n}>row_{n}(oars)</dt><dd><p>Rows with the given oars.</p></dd>" for n in range(5))
        + "</dl>",
        "<div class='language-sh highlight'><pre>sail --now\nsail --west\nanchor --drop</pre></div>",
        "<section id=comments><h2>Comments</h2><p>A comment starts with a hash sign.</p></section>",
        "<div class=section id=related-objects><h2>Related objects</h2><p>Harbours have ships.</p></div>",
        "<div id='setCookie,string'><p>Sets a cookie of the given name.</p></div>",
        "<div class=admonition><p>Note</p><p>Pirates read this as well.</p></div>",
        "<p>Share objects with other ships by their number. Tags are labels. Comments are text.</p>",
        "<p>See also: the chapter about anchors.</p>",
        "<p>Anzeige der Ergebnisse</p>",
        "<dl class=footnote><dt>[1]</dt><dd><p>Measured by Hippalus himself.</p></dd></dl>",
    ],
)
def test_documentation_stays_whole(entry: str) -> None:
    html = f"<nav>{MENU}</nav><div class=body><h1>Sailing</h1>{ARTICLE}{entry}{ARTICLE}</div><footer>{FOOTER}</footer>"
    page = parsed(html)
    lines = parsed(f"<body>{entry}</body>").text.split("\n")
    assert [line for line in lines if line not in page.main_text.split("\n")] == []


def test_a_link_over_several_lines_counts_in_each() -> None:
    teaser = "".join(f"<div>{words}</div>" for words in PARAGRAPHS)
    page = parsed(f"{ARTICLE}{ARTICLE}<a href=/next>{teaser}</a>")
    assert page.main_text.count(PARAGRAPHS[0]) >= 2

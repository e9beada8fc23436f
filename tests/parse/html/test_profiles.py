"""Site profiles select title, body and categories."""

from __future__ import annotations

from parse.documents import answer
from periplus.config import Parsing, SiteProfile
from periplus.model import Page
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer

WIKI = """<html><head><title>Muziris - Wikipedia</title><meta name=generator content="MediaWiki 1.44"></head><body>
<div id=mw-navigation><a href=/wiki/Main>Main page</a></div>
<h1 id=firstHeading>Muziris</h1>
<div id=mw-content-text><div class=mw-parser-output>
<div class=hatnote>For the film, see elsewhere.</div>
<table class=infobox><tr><td>Founded</td><td>long ago</td></tr></table>
<p>Muziris was a harbour<sup class=reference><a href=#cite1>[1]</a></sup> on the
  <a href=/wiki/Malabar>Malabar</a> coast.</p>
<div id=toc><h2>Contents</h2><a href=#h>History</a></div>
<div class=mw-heading><h2 id=h>History</h2><span class=mw-editsection>[<a href=/edit>edit</a>]</span></div>
<h3>Early times</h3><p>Ships came from Egypt.</p>
<h2>Population</h2><table><tr><td>1</td></tr></table>
<h2>References</h2><ol class=references><li id=cite1>A book.</li></ol>
<div class=navbox><a href=/wiki/Ports>Ports of India</a></div>
</div></div>
<div id=catlinks><div id=mw-normal-catlinks><a href=/wiki/Cat>Categories</a>:
<ul><li><a href=/wiki/Category:Ports>Ports</a></li><li><a href=/wiki/Category:Spice>Spice trade</a></li></ul></div>
</div>
</body></html>"""


def _read(html: str, profiles: dict[str, SiteProfile] | None = None, url: str = "https://wiki.example.org/a") -> Page:
    settings = Parsing(profiles=profiles or {})
    return PageParser(Canonicalizer(), links_per_page=100, settings=settings).parse(answer(html, url=url))


def test_a_wiki_gives_clean_paragraphs_and_categories() -> None:
    page = _read(WIKI)
    assert page.title == "Muziris"
    assert page.text == ("Muziris was a harbour on the Malabar coast.\nHistory\nEarly times\nShips came from Egypt.")
    assert page.main_text == page.text
    assert page.headings == ("History", "Early times")
    assert page.categories == ("Ports", "Spice trade")


def test_the_links_of_a_wiki_are_all_there() -> None:
    targets = {link.target for link in _read(WIKI).links}
    assert {"https://wiki.example.org/wiki/Ports", "https://wiki.example.org/wiki/Main"} <= targets


def test_a_profile_is_chosen_by_the_host() -> None:
    blog = SiteProfile(
        hosts=[r"(.*\.)?blog\.example"], title="h2.post", body="div.post", categories=".tag", remove=[".share"]
    )
    html = (
        "<title>My blog</title><h2 class=post>Storm</h2><a class=tag>sea</a><a class=tag>wind</a><p>Welcome to my blog."
        "<div class=post><p>It blew hard.</p><p class=share>Share this!</p><p>Then it ceased.</p></div>"
    )
    page = _read(html, {"blog": blog}, "https://www.blog.example/storm")
    assert (page.title, page.text, page.categories) == ("Storm", "It blew hard.\nThen it ceased.", ("sea", "wind"))
    elsewhere = _read(html, {"blog": blog}, "https://blog.example.org/storm")
    assert elsewhere.title == "My blog"
    assert "Share this!" in elsewhere.text


def test_a_page_without_the_body_of_its_profile_is_read_as_usual() -> None:
    page = _read("<title>T</title><p>words", {"x": SiteProfile(hosts=[".*"], title=".no", body=".no")})
    assert (page.title, page.text) == ("T", "words")


def test_the_built_in_profile_can_be_overridden() -> None:
    html = WIKI.replace("MediaWiki 1.44", "something else")
    assert "Founded" in _read(html).text
    changed = {"mediawiki": SiteProfile(hosts=[r"wiki\.example\.org"], remove=["table"])}
    page = _read(html, changed)
    assert "Founded" not in page.text
    assert "[1]" in page.text
    assert page.categories == ("Ports", "Spice trade")


def test_a_heading_stays_when_something_deeper_is_below_it() -> None:
    body = "<h2>A</h2><h3>B</h3><p>text</p><h3>C</h3><h2>D</h2><h4>E</h4>"
    page = _read(f"<div class=b>{body}</div>", {"x": SiteProfile(hosts=[".*"], body=".b")})
    assert page.text == "A\nB\ntext"

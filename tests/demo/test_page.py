"""A documentation page is complete, escaped HTML."""

from __future__ import annotations

from periplus.demo.page import link, link_list, page
from periplus.model import Response
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer

ADDRESS = "http://docs.localhost:8090/library/x.html"


def test_the_crawler_reads_its_title_description_language_and_links() -> None:
    body = page("re: <patterns> & more", "<h1>re</h1>", description='"quoted"', parents=(("../", "Python"),))
    found = PageParser(Canonicalizer(), links_per_page=100).parse(
        Response(ADDRESS, 1.0, status=200, headers={"content-type": "text/html"}, body=body)
    )
    assert found.title == "re: <patterns> & more"
    assert found.description == '"quoted"'
    assert found.language == "en"
    assert found.headings == ("re",)
    assert [entry.target for entry in found.links] == ["http://docs.localhost:8090/"]


def test_its_text_begins_with_what_it_is_about() -> None:
    body = page("x", "<h1>What it is about</h1>", parents=(("../", "Python"),)).decode()
    assert body.index("What it is about") < body.index(">Python<")


def test_names_cannot_become_markup() -> None:
    assert link('x"><script>', "<b>") == '<a href="x&quot;&gt;&lt;script&gt;">&lt;b&gt;</a>'
    assert "<script>" not in link_list([("a", "b", "<script>")])

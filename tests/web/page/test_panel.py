"""The page about a page, and the panel beside the results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from periplus.web.page.panel import named_site
from web.engines import FACTS, HARBOUR, FakeEngine, FakeLibrary
from web.serving import Site, searching


@pytest.fixture(scope="module")
def library() -> FakeLibrary:
    return FakeLibrary(FakeEngine())


@pytest.fixture(scope="module")
def site(library: FakeLibrary) -> Iterator[Site]:
    with searching(library.engine, library=library) as served:
        yield served


def test_the_page_about_a_page_tells_what_is_known(site: Site) -> None:
    page = site.get("/page", url=FACTS.url, q="harbour").page
    assert page.select("h1")[0].text == FACTS.title
    rows = dict(
        zip((one.text for one in page.select("main dt")), (one.text for one in page.select("main dd")), strict=True)
    )
    assert rows["Rank"] == "above 97 % of pages (PageRank 0.00012)"
    assert rows["Links to this page"] == "from 1,234 pages"
    assert (rows["Links on this page"], rows["Language"], rows["Type"]) == ("12", "English", "Web page")
    assert (rows["Published"], rows["Fetched"], rows["Size"]) == ("3 March 2026", "4 March 2026", "12 kB")
    assert "Changed" not in rows
    assert [chip.text for chip in page.select(".chips li")] == list(FACTS.anchors)
    assert "https://mirror.example/ostia" in page.select("main")[0].text
    links = {link.text: str(link.attrs["href"]) for link in page.select(".panel-links a")}
    assert "q=harbour" in links["Read the cached copy"]
    assert "2 versions" in links


def test_a_heading_links_to_its_text_on_the_page(site: Site) -> None:
    links = site.get("/page", url=FACTS.url).page.select(".panel-list a")
    assert str(links[0].attrs["href"]) == f"{FACTS.url}#:~:text=The%20basin"
    assert str(links[1].attrs["href"]).endswith("#:~:text=Ships%20%2D%20and%20ropes")


def test_the_page_tells_about_the_site_too(site: Site) -> None:
    section = site.get("/page", url=FACTS.url).page.select("section.panel")[1]
    assert section.select("dd")[0].text == "42 pages"
    assert section.select("dd a")[0].attrs["href"] == "/search?q=site%3Aharbours.example"
    assert [link.text for link in section.select("ol a")] == ["Harbours"], "a URL that is not of the web is no link"
    assert [item.text for item in section.select("ol li")] == ["Harbours", "Odd"]


def test_the_panel_is_a_fragment(site: Site) -> None:
    answer = site.get("/panel", url=FACTS.url)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<html" not in answer.text
    assert "<script" not in answer.text
    assert FACTS.title in answer.text
    assert "42 pages" in site.get("/panel/site", host="harbours.example").text


@pytest.mark.parametrize("path", ["/page", "/panel"])
def test_a_page_that_is_not_in_the_index_is_not_found(site: Site, path: str) -> None:
    assert site.get(path, url="http://a.example/nowhere").status == 404
    assert site.get(path).status == 400
    assert site.get("/panel/site", host="nowhere.example").status == 404
    assert site.get("/panel/site", host="x" * 254).status == 400
    assert site.get("/panel/site").status == 400


def test_a_page_without_rank_and_versions_is_shown(site: Site, library: FakeLibrary) -> None:
    poor = replace(FACTS, url="http://poor.example/", rank=None, versions=(), language="", site_name="", host="poor")
    library.page_facts = {poor.url: poor, FACTS.url: FACTS}
    labels = [one.text for one in site.get("/page", url=poor.url).page.select("main dt")]
    assert labels == ["Links on this page", "Type", "Published", "Fetched"]


def test_every_result_links_to_its_page(site: Site) -> None:
    hit = site.get("/search?q=harbour").page.select("li.hit")[0]
    about = next(str(link.attrs["href"]) for link in hit.select(".menu a") if link.text.startswith("About"))
    assert about.startswith("/page?url=https://harbours.example")
    assert about.endswith("&q=harbour")


FRONT = replace(HARBOUR, url="https://harbours.example/", explain={"site": 2.0})


def test_a_query_that_names_a_site_shows_its_panel() -> None:
    assert named_site((FRONT, HARBOUR), 1) == "harbours.example"
    with searching(FakeEngine(hits=[FRONT])) as site:
        panel = site.get("/search?q=harbours").page.select("#panel")[0]
        assert panel.attrs["data-first"] == "/panel/site?host=harbours.example"
        assert "hidden" in panel.attrs


def test_other_queries_name_no_site() -> None:
    assert named_site((), 1) == ""
    assert named_site((FRONT,), 2) == ""
    assert named_site((HARBOUR, FRONT), 1) == ""
    assert named_site((replace(FRONT, explain={"site": 0.0}),), 1) == ""
    assert named_site((replace(FRONT, url="https://harbours.example/deep"),), 1) == ""

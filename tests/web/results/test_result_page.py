"""The result page: menus, groups, filters, help without results, and explanations, all without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from periplus.model import FacetCounts
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching

PDF = replace(
    HARBOUR,
    url="https://papers.example/periplus.pdf",
    host="papers.example",
    title="The Periplus",
    mime="application/pdf",
    same_content=("https://mirror.example/p.pdf", "javascript:alert(1)"),
    date=1_442_880_000.0,
    language="de",
    score=3.2,
)
COUNTS = FacetCounts(
    languages=(("en", 30), ("de", 12)),
    sites=(("harbours.example", 40),),
    newer=(("day", 1), ("week", 2), ("month", 3), ("year", 42)),
    hosts={"harbours.example": 40, "papers.example": 2},
)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=[HARBOUR, PDF, *(40 * [HARBOUR])], counts=COUNTS)


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine, report=lambda url: {"url": url}) as served:
        yield served


# --- a result and its menu ---


def test_what_is_unusual_is_shown(site: Site) -> None:
    hit = next(hit for hit in site.get("/search?q=harbour").page.select("li.hit") if PDF.title in hit.text)
    assert [badge.text for badge in hit.select(".badge")] == ["PDF", "German"]
    assert hit.select("h2")[0].attrs["lang"] == "de"
    assert hit.select(".snippet time")[0].text == "22 Sep 2015"
    assert hit.select(".snippet")[0].text.startswith("22 Sep 2015 — Claudius")


def test_every_result_has_one_menu(site: Site) -> None:
    hit = next(hit for hit in site.get("/search?q=harbour").page.select("li.hit") if PDF.title in hit.text)
    (menu,) = hit.select("details.menu")
    assert menu.select("summary")[0].attrs["aria-label"] == "More about The Periplus"
    links = {link.text: str(link.attrs["href"]) for link in menu.select("a")}
    url = f"url={PDF.url}"
    assert links == {
        "Cached copy": f"/cached?{url}&q=harbour",
        "Why this result?": f"/why?q=harbour&{url}",
        "Pages like this": f"/like?{url}",
        "About this page": f"/page?{url}&q=harbour",
        "Inspect": f"/inspect?{url}",
        "1 more from this site": "/search?q=harbour&site=papers.example",
        "https://mirror.example/p.pdf": "https://mirror.example/p.pdf",
    }
    assert "javascript:alert(1)" in menu.text
    buttons = {str(button.attrs["value"]): button.text for button in menu.select("button[name=sites]")}
    host = PDF.host
    assert buttons == {f"raise:{host}": "Raise", f"lower:{host}": "Lower", f"block:{host}": "Block"}


def test_the_copy_of_a_result_is_one_step_away(site: Site) -> None:
    links = site.get("/search?q=harbour").page.select("li.hit .menu a")
    cached = next(str(link.attrs["href"]) for link in links if link.text == "Cached copy")
    assert site.get(cached).status == 200


def test_pages_like_a_result_are_a_search_for_its_words(site: Site, engine: FakeEngine) -> None:
    answer = site.get("/like", url=HARBOUR.url)
    assert (answer.status, answer.headers["location"]) == (303, "/search?q=ostia+claudius&mode=or")
    assert site.get("/like", url="https://nowhere.example/").status == 404


# --- groups ---


def test_results_of_a_host_stand_together_and_say_how_many_more_there_are(site: Site) -> None:
    hits = site.get("/search?q=harbour").page.select("li.hit")
    assert [PDF.title in hit.text for hit in hits].index(True) == 4, "three moved up"
    assert [hit.attrs["class"] for hit in hits[:5]] == [["hit"], *3 * [["hit", "inner"]], ["hit"]]
    more = hits[3].select(".lacks a")[0]
    assert (more.text, more.attrs["href"]) == (
        "31 more from this site, harbours.example",
        "/search?q=harbour&site=harbours.example",
    )
    assert not hits[4].select(".lacks a")


def test_the_api_keeps_the_order(site: Site, engine: FakeEngine) -> None:
    found = site.get("/api/search?q=harbour").json["results"]
    assert [hit["url"] for hit in found] == [hit.url for hit in engine.hits[:15]]


# --- filters ---


def test_filters_are_links_with_counts(site: Site, engine: FakeEngine) -> None:
    menus = site.get("/search?q=harbour").page.select(".filters details.menu")
    found = {menu.select("summary")[0].text: [item.text.split() for item in menu.select("li")] for menu in menus}
    assert found["Language"] == [["English", "30"], ["German", "12"]]
    assert found["Time"][0] == ["Past", "day", "1"]
    assert found["Site"] == [["harbours.example", "40"]]
    assert engine.asked[-1] == {"facets": "harbour", "mode": "auto", "hosts": [hit.host for hit in engine.hits[:10]]}


def test_a_filtered_search_keeps_its_filters(site: Site, engine: FakeEngine) -> None:
    engine.suggestion = "lang:de type:pdf harbours"
    page = site.get("/search?q=harbour&lang=de&type=pdf&page=2").page
    assert engine.asked[0]["query"] == "lang:de filetype:pdf (harbour)"
    assert page.select("input[name=q]")[0].attrs["value"] == "harbour"
    assert page.select("nav.paging a[rel=next]")[0].attrs["href"] == "/search?q=harbour&lang=de&type=pdf&page=3"
    chips = page.select(".filters a.chip")
    assert [chip.text for chip in chips] == ["Remove the filter German \u00d7", "Remove the filter PDF \u00d7"]
    assert [chip.attrs["href"] for chip in chips] == ["/search?q=harbour&type=pdf", "/search?q=harbour&lang=de"]


def test_corrected_queries_and_suggestions_keep_the_filters(site: Site, engine: FakeEngine) -> None:
    engine.suggestion = "lang:de harbours"
    (note,) = site.get("/search?q=harbour&lang=de").page.select(".hint[role=note]")
    assert note.select("a")[0].attrs["href"] == "/search?q=harbours&lang=de"
    engine.suggestion, engine.corrected = "", "lang:de new harbour"
    page = site.get("/search?q=new+harbuor&lang=de").page
    (note,) = page.select(".hint[role=note]")
    assert " ".join(note.text.split()) == "Showing results for new harbour. Search instead for new harbuor."
    assert note.select("a")[0].attrs["href"] == "/search?q=new+harbuor&lang=de&exact=1"
    assert engine.asked[-1]["facets"] == "lang:de new harbour", "the counts are those of the corrected query"
    links = [str(link.attrs["href"]) for link in page.select(".filters .menu a")]
    assert "/search?q=new+harbour&lang=de&site=harbours.example&exact=1" in links


def test_the_api_accepts_the_filters(site: Site, engine: FakeEngine) -> None:
    site.get("/api/search?q=harbour&site=a.example")
    assert engine.asked[-1]["query"] == "site:a.example (harbour)"


# --- nothing found ---


def test_without_results_searches_that_find_something_are_offered(site: Site, engine: FakeEngine) -> None:
    engine.hits, engine.found_by = [], {"new harbour": 1_234}
    page = site.get("/search", q='"new harbour" site:a.example').page
    assert page.select("h1")[0].text == 'No results for “"new harbour" site:a.example”'
    assert "12,345 pages were searched" in page.select(".notice")[0].text
    assert [item.text for item in page.select(".notice li")] == ["new harbour, without operators: 1,234 pages"]
    assert page.select(".notice li a")[0].attrs["href"] == "/search?q=new+harbour"
    assert not page.select("nav.paging, .filters")


def test_when_nothing_helps_nothing_is_offered(site: Site, engine: FakeEngine) -> None:
    engine.hits = []
    page = site.get("/search?q=harbuor").page
    assert not page.select(".notice a, .notice code")
    assert "Check the spelling" in page.select(".notice")[0].text


@pytest.mark.parametrize("path", ["/search?q=new+harbour&page=two", "/nowhere?q=new+harbour"])
def test_an_error_page_keeps_the_query(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status in {400, 404}
    assert answer.page.select("input[name=q]")[0].attrs["value"] == "new harbour"


def test_an_engine_that_fails_keeps_the_query(site: Site, engine: FakeEngine) -> None:
    def fail() -> None:
        raise ValueError("a bug")

    engine.before = fail
    answer = site.get("/search?q=new+harbour")
    assert answer.status == 500
    assert answer.page.select("input[name=q]")[0].attrs["value"] == "new harbour"


# --- why this result ---


def test_a_result_says_why_it_stands_there(site: Site, engine: FakeEngine) -> None:
    page = site.get("/why", q="harbour", url=HARBOUR.url, lang="en").page
    rows = [[cell.text for cell in row.select("th, td")][:3] for row in page.select(".why tbody tr, .why tfoot tr")]
    assert rows == [
        ["Text score (BM25): 53.6", "4 \u00d7 0.5", "2.0000"],
        ["3 of 4 words in the title", "2 \u00d7 0.5", "1.0000"],
        ["PageRank: better than 97 % of pages", "0.5 \u00d7 0.5", "0.2500"],
        ["Score", "", "3.2500"],
    ]
    assert engine.asked[-1] == {"explained": "lang:en (harbour)", "mode": "auto", "verbatim": False}
    links = {str(link.attrs["href"]) for link in page.select("main a")}
    assert links == {HARBOUR.url, "/help#score", "/playground?q=harbour&lang=en", "/search?q=harbour&lang=en"}


def test_explanations_are_loaded_only_on_demand(site: Site) -> None:
    assert not site.get("/search?q=harbour").page.select("table")


def test_the_explanation_names_other_urls_and_links_to_a_section_that_exists(site: Site) -> None:
    page = site.get("/why", q="harbour", url=PDF.url).page
    assert [item.text for item in page.select("main li")] == list(PDF.same_content)
    path, _, section = str(page.select("#reasons a")[0].attrs["href"]).partition("#")
    assert site.get(path).page.select(f"#{section}")


@pytest.mark.parametrize(("query", "status"), [("q=x&url=https://nowhere.example/", 404), ("q=x", 400), ("url=x", 400)])
def test_what_cannot_be_explained_is_said(site: Site, query: str, status: int) -> None:
    assert site.get(f"/why?{query}").status == status


# --- size ---


def test_a_page_of_ten_long_results_is_small(site: Site, engine: FakeEngine) -> None:
    long = replace(
        PDF,
        url=f"https://long-name.documentation.example/{'part-of-a-path/' * 7}index.html",
        title="A title that is as long as titles are. " * 4,
        snippet="A word and others. " * 14,
        highlights=tuple((start, start + 6) for start in range(2, 250, 19)),
        all_words=False,
        missing=("some", "words", "here"),
        same_content=tuple(f"https://mirror{n}.example/{'part-of-a-path/' * 7}index.html" for n in range(5)),
    )
    engine.hits = [replace(long, host=f"host{number}.example") for number in range(40)]
    answer = site.get("/search", q="several words of a longer query", lang="de")
    assert len(answer.page.select("li.hit")) == 10
    assert len(answer.body) < 42_500

"""The whole site works with scripts disabled."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest

from periplus.config import Serving
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching

PDF = replace(
    HARBOUR,
    url="https://papers.example/periplus.pdf",
    title="The Periplus",
    mime="application/pdf",
    same_content=("https://mirror.example/p.pdf", "javascript:alert(1)"),
)


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=[HARBOUR, PDF, *(40 * [HARBOUR])])


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


# --- home ---


def test_home_is_a_box(site: Site) -> None:
    page = site.get("/").page
    form = page.select("form[role=search]")[0]
    assert form.attrs["action"] == "/search"
    assert "method" not in form.attrs, "a search has an address"
    box = form.select("input[name=q]")[0]
    assert page.select(f"label[for={box.attrs['id']}]")[0].text == "Search for"
    assert "12,345 pages" in page.select("main")[0].text


def test_an_empty_collection_says_so(site: Site, engine: FakeEngine) -> None:
    engine.documents = 0
    assert "The index is empty" in site.get("/").text
    engine.hits = []
    text = site.get("/search?q=x").page.select(".notice")[0].text
    assert "There are no pages to search yet" in text
    assert "periplus " not in text, "readers are not told to run commands"


def test_one_page_is_one_page(site: Site, engine: FakeEngine) -> None:
    engine.documents = 1
    assert "Searches 1 page." in site.get("/").text


@pytest.mark.parametrize("query", ["", "?q=", "?q=+%20"])
def test_a_search_for_nothing_leads_home(site: Site, query: str) -> None:
    answer = site.get(f"/search{query}")
    assert (answer.status, answer.headers["location"]) == (303, "/")


# --- results ---


def test_a_result_shows_where_it_leads_and_why_it_matches(site: Site) -> None:
    hit = site.get("/search?q=harbour").page.select("li.hit")[0]
    link = hit.select("h2 a")[0]
    assert (link.attrs["href"], link.text) == (HARBOUR.url, HARBOUR.title)
    assert "noreferrer" in str(link.attrs["rel"])
    way = [part.strip() for part in hit.select(".where p")[0].text.split("\u203a")]
    assert way == ["harbours.example", "mediterranean", "ostia antica", "?view=plan"]
    assert hit.select(".snippet")[0].text == HARBOUR.snippet
    assert [mark.text for mark in hit.select("mark")] == ["harbour"]
    assert not hit.select("time, .badge"), "what is usual is not shown"
    assert "Fetched" not in hit.text


def test_the_copy_of_a_result_is_one_step_away(site: Site) -> None:
    links = site.get("/search?q=harbour").page.select("li.hit .menu a")
    cached = next(str(link.attrs["href"]) for link in links if link.text.startswith("Cached copy"))
    assert site.get(cached).page.select("article.reader mark")
    assert "q=harbour" in cached


def test_the_page_says_how_many_there_are_and_how_long_it_took(site: Site, engine: FakeEngine) -> None:
    assert site.get("/search?q=harbour").page.select(".summary")[0].text == "42 results (0.012 s)"
    engine.exact = False
    assert site.get("/search?q=x&page=2").page.select(".summary")[0].text == "At least 42 results (0.012 s), page 2"


def test_the_box_holds_what_was_searched_for(site: Site) -> None:
    for query in ("harbour", "\"a' <b> &amp;", "x" * 3_000):
        page = site.get("/search", q=query).page
        assert page.select("input[name=q]")[0].attrs["value"] == query
        assert page.select("title")[0].text == f"{query} \u2013 Periplus"


def test_the_parsed_query_and_the_hints_are_shown(site: Site, engine: FakeEngine) -> None:
    assert not site.get("/search?q=harbour").page.select(".hint")
    engine.understood, engine.hints = "new harbour", ("One <i>.", "Two.")
    page = site.get('/search?q="new harbour'.replace(" ", "+")).page
    assert page.select(".understood dd")[0].text == "new harbour"
    assert [item.text for item in page.select(".hint li")] == ["One <i>.", "Two."]


def test_what_was_left_out_or_excluded_is_shown(site: Site, engine: FakeEngine) -> None:
    engine.left_out, engine.excluded = ("how", "to"), ("car", '"<big> cat"')
    page = site.get("/search?q=jaguar").page
    assert [term.text for term in page.select(".understood dt")] == ["Left out", "Without"]
    assert [chip.text for chip in page.select(".understood .chip")] == ["how", "to", "car", '"<big> cat"']


def test_a_corrected_query_is_shown_with_the_way_back(site: Site, engine: FakeEngine) -> None:
    engine.corrected = "new harbour"
    page = site.get("/search?q=new+harbuor&page=2").page
    note = page.select(".hint[role=note]")[0]
    assert " ".join(note.text.split()) == "Showing results for new harbour. Search instead for new harbuor."
    back = note.select("a")[0]
    assert (back.attrs["href"], back.text) == ("/search?q=new+harbuor&exact=1", "new harbuor")
    assert page.select("h1")[0].text == "Results for new harbour"
    as_typed = site.get(str(back.attrs["href"])).page
    assert not as_typed.select(".hint")
    assert engine.asked[-2]["verbatim"] is True
    assert as_typed.select("nav.paging a[rel=next]")[0].attrs["href"] == "/search?q=new+harbuor&exact=1&page=2"


def test_a_query_that_may_have_been_meant_is_one_step_away(site: Site, engine: FakeEngine) -> None:
    engine.suggestion = "harbour <b>"
    note = site.get("/search?q=harbuor&exact=0").page.select(".hint[role=note]")[0]
    assert " ".join(note.text.split()) == "Did you mean harbour <b>?"
    assert note.select("a")[0].attrs["href"] == "/search?q=harbour+%3Cb%3E"


def test_the_page_says_how_many_have_all_words(site: Site, engine: FakeEngine) -> None:
    engine.with_all_words = 12
    summary = site.get("/search?q=new+harbour").page.select(".summary")[0].text
    assert summary == "12 pages have all your words, 30 some (0.012 s)"


def test_hits_with_only_some_words_are_marked(site: Site, engine: FakeEngine) -> None:
    engine.hits = [replace(PDF, all_words=False, missing=("a", "<b>")), HARBOUR, replace(PDF, all_words=False)]
    items = site.get("/search?q=a+b").page.select("ol.hits > li")
    lacking = [" ".join(item.select(".lacks")[0].text.split()) if item.select(".lacks") else "" for item in items]
    assert lacking == ["Missing: a <b>", "", "Some words are missing"]


def test_when_no_page_has_all_words_the_summary_says_which_are_missing(site: Site, engine: FakeEngine) -> None:
    engine.hits, engine.with_all_words = [replace(HARBOUR, all_words=False, missing=("tide",))], 0
    summary = " ".join(site.get("/search?q=harbour+tide").page.select(".summary")[0].text.split())
    assert summary == "No page has all your words. 1 partial match (missing: tide) (0.012 s)"


def test_a_hit_without_snippet_is_shown_without_it(site: Site, engine: FakeEngine) -> None:
    engine.hits = [replace(HARBOUR, explain={}, snippet="", highlights=(), fetched_at=0, language="", mime="")]
    hit = site.get("/search?q=x").page.select("li.hit")[0]
    assert not hit.select(".snippet, time, .badge, [lang]")


# --- going on ---


def test_every_page_can_be_reached_by_links(site: Site) -> None:
    target: str | None = "/search?q=harbour"
    seen = []
    while target:
        page = site.get(target).page
        seen.append(len(page.select("li.hit")))
        current = page.select("nav.paging [aria-current=page]")[0].text
        assert current == f"Page {len(seen)}"
        following = page.select("nav.paging a[rel=next]")
        target = str(following[0].attrs["href"]) if following else None
    assert seen == [10, 10, 10, 10, 2]


def test_a_page_beyond_the_end_links_to_the_last_and_first_page(site: Site) -> None:
    page = site.get("/search?q=harbour&page=50").page
    assert page.select("h1")[0].text == "No more results for “harbour”"
    assert [link.attrs["href"] for link in page.select(".notice a")] == [
        "/search?q=harbour&page=5",
        "/search?q=harbour",
    ]


def test_a_page_that_is_no_number_is_explained(site: Site) -> None:
    answer = site.get("/search?q=harbour&page=two")
    assert answer.status == 400
    assert answer.page.select(".notice p")[1].text == 'Invalid page number "two" (1-100).'


# --- for everybody ---

PATHS = [
    "/",
    "/search?q=harbour",
    "/search?q=harbour&page=9",
    f"/why?q=harbour&url={quote(HARBOUR.url)}",
    f"/cached?url={HARBOUR.url}",
    "/nowhere",
]


@pytest.mark.parametrize("path", PATHS)
def test_every_page_has_its_landmarks(site: Site, path: str) -> None:
    page = site.get(path).page
    assert page.select("html")[0].attrs["lang"] == "en"
    assert len(page.select("main#main")) == 1
    assert len(page.select("h1")) == 1
    assert page.select("title")[0].text
    assert page.select('a.skip[href="#main"]')
    for control in page.select("input:not([type=checkbox]):not([type=hidden])"):
        assert page.select(f"label[for={control.attrs['id']}]")
    for picture in page.select("img"):
        assert "alt" in picture.attrs


@pytest.mark.parametrize("path", PATHS)
def test_no_page_holds_inline_code_or_loads_from_elsewhere(site: Site, path: str) -> None:
    page = site.get(path).page
    assert not page.select("style, [style], script:not([src]), base")
    loaded = [str(node.attrs.get("src") or node.attrs.get("href")) for node in page.select("script, img, iframe, link")]
    assert all(re.fullmatch(r"/[a-z].*", address) for address in loaded)
    assert not [name for node in page.select("*") for name in node.attrs if name.startswith("on")]


def test_searches_are_not_for_other_crawlers(site: Site) -> None:
    assert site.get("/search?q=x").page.select('meta[name=robots][content="noindex"]')
    assert "Disallow: /search" in site.get("/robots.txt").text


# --- for programs ---


def test_a_browser_can_add_the_engine(site: Site) -> None:
    link = site.get("/").page.select("link[rel=search]")[0]
    answer = site.get(str(link.attrs["href"]))
    assert answer.headers["content-type"] == "application/opensearchdescription+xml" == link.attrs["type"]
    name = "{http://a9.com/-/spec/opensearch/1.1/}"
    urls = {url.attrib["type"]: url.attrib["template"] for url in ET.fromstring(answer.text).iter(f"{name}Url")}
    assert urls["text/html"] == f"{site.base}/search?q={{searchTerms}}&page={{startPage?}}"
    filled = urls["application/json"].replace("{searchTerms}", "x").replace("{startPage?}", "").replace("{count?}", "")
    assert site.get(filled.removeprefix(site.base)).status == 200


@pytest.mark.parametrize("host", ['"><x>', "a&b", "a'b", "é"])
def test_a_forged_host_cannot_break_the_description(site: Site, host: str) -> None:
    answer = site.get("/opensearch.xml", {"Host": host.encode().decode("latin-1")})
    assert answer.status in {200, 400}
    if answer.status == 200:
        ET.fromstring(answer.text)


@pytest.mark.parametrize("host", ["", "evil.example"])
def test_no_cache_keeps_a_description_that_repeats_the_host_header(site: Site, host: str) -> None:
    answer = site.get("/opensearch.xml", {"Host": host} if host else {})
    assert f"http://{host}/search" in answer.text or not host
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("address", ["https://search.example", "https://search.example/"])
def test_a_forged_host_changes_nothing_when_the_public_address_is_set(engine: FakeEngine, address: str) -> None:
    with searching(engine, Serving(public_address=address)) as site:
        forged, plain = site.get("/opensearch.xml", {"Host": "evil.example"}), site.get("/opensearch.xml")
    assert forged.body == plain.body
    assert "evil.example" not in forged.text
    assert 'template="https://search.example/search?q=' in forged.text
    assert forged.headers["cache-control"] == "public, max-age=3600"


def test_the_site_tells_its_health(site: Site) -> None:
    answer = site.get("/healthz")
    assert answer.json == {"status": "ok", "generation": 7, "documents": 12_345}
    assert answer.headers["cache-control"] == "no-store"


def test_a_damaged_index_is_not_healthy(site: Site, engine: FakeEngine) -> None:
    engine.is_damaged = True
    answer = site.get("/healthz")
    assert answer.status == 503
    assert answer.json == {"status": "damaged", "generation": 7, "documents": 12_345}
    assert site.get("/search?q=harbour").status == 200

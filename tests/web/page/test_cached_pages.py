"""The cached page: its text, its versions and what changed between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from periplus.model import CachedPage
from web.engines import ARCHIVED, CRAWLED, FACTS, FakeEngine, FakeLibrary
from web.serving import Site, searching

EARLIER = FACTS.versions[0].at
PROSE = "The harbour of Ostia was dug under Claudius, and Trajan added a basin."
PAGES = {
    page.url: page
    for page in (
        CachedPage(ARCHIVED.url, CRAWLED, "text/html", f"<title>Ostia</title><h1>Basin</h1><p>{PROSE}".encode()),
        CachedPage("http://a.example/pdf", CRAWLED, "application/pdf", b"Chapter 1\nThe harbour book."),
        CachedPage("http://a.example/empty", CRAWLED, "text/html", b""),
    )
}
OLD = CachedPage(ARCHIVED.url, EARLIER, "text/html", f"<p>{PROSE.replace('basin', 'mole')}<p>Gone.".encode())


@pytest.fixture(scope="module")
def library() -> FakeLibrary:
    return FakeLibrary(FakeEngine(archive=PAGES), older={EARLIER: OLD, CRAWLED: PAGES[ARCHIVED.url]})


@pytest.fixture(scope="module")
def site(library: FakeLibrary) -> Iterator[Site]:
    engine = library.engine
    with searching(engine, library=library) as served:
        yield served


def test_the_cached_page_is_its_text_with_the_query_marked(site: Site) -> None:
    page = site.get("/cached", url=ARCHIVED.url, q="harbour").page
    reader = page.select("article.reader")[0]
    assert reader.select("h1")[0].text == "Ostia"
    assert [heading.text for heading in reader.select("h2")] == ["Basin"]
    assert [mark.text for mark in reader.select("mark")] == ["harbour"]
    assert "1 match for" in reader.text
    assert page.select("input[name=q]")[0].attrs["value"] == "harbour"
    assert not page.select("iframe")
    assert "4 March 2026 at 05:05 UTC" in page.select(".about")[0].text


def test_every_tab_keeps_the_query(site: Site) -> None:
    tabs = site.get("/cached", url=ARCHIVED.url, q="harbour").page.select(".tabs a")
    assert [tab.text for tab in tabs] == ["Text", "As archived", "Versions", "About"]
    assert all("q=harbour" in str(tab.attrs["href"]) for tab in tabs)
    assert [site.get(str(tab.attrs["href"])).status for tab in tabs] == [200, 200, 200, 200]


def test_the_text_of_a_pdf_is_shown_without_a_frame(site: Site) -> None:
    page = site.get("/cached", url="http://a.example/pdf", q="book").page
    assert [text.text for text in page.select(".reader p:not(.dates)")] == ["Chapter 1", "The harbour book."]
    assert "As archived" not in page.select(".tabs")[0].text


def test_a_page_without_text_says_so(site: Site) -> None:
    notice = site.get("/cached", url="http://a.example/empty").page.select(".notice")[0]
    assert "No text to show" in notice.text


def test_versions_are_listed_newest_first_with_their_changes(site: Site) -> None:
    rows = site.get("/cached/versions", url=ARCHIVED.url).page.select(".versions li")
    assert [row.select("time")[0].text for row in rows] == ["4 March 2026, 05:05 UTC", "2 March 2026, 05:05 UTC"]
    assert "unchanged on 2 later visits" in rows[1].text
    assert "First version" in rows[1].text
    shown, changes = (str(link.attrs["href"]) for link in rows[0].select("a"))
    assert site.get(shown).status == 200
    assert site.get(changes).page.select(".changes .added")


def test_an_earlier_version_is_shown_and_says_so(site: Site) -> None:
    page = site.get("/cached", url=ARCHIVED.url, at="20260302050500").page
    assert "mole" in page.select("article.reader")[0].text
    assert "This is an earlier version." in page.select(".about")[0].text
    raw = site.get("/cached/raw", url=ARCHIVED.url, at="20260302050500")
    assert raw.body == OLD.body
    assert raw.headers["content-security-policy"].startswith("sandbox")
    assert site.get("/cached", url=ARCHIVED.url, at="20250302050500").status == 404
    assert site.get("/cached", url=ARCHIVED.url, at="yesterday").status == 400


def test_the_difference_marks_the_changed_words(site: Site) -> None:
    page = site.get(f"/cached/changes?url={quote(ARCHIVED.url)}&from=20260302050500&to=20260304050500").page
    assert [word.text for word in page.select(".changes del")] == ["mole"]
    assert [word.text for word in page.select(".changes ins")] == ["basin"]
    assert "1 paragraph added, 1 removed, 1 changed" in page.select("main")[0].text
    same = site.get("/cached/changes", url=ARCHIVED.url).page
    assert "the text is the same" in same.select("main")[0].text


def test_without_a_history_the_list_says_so(site: Site, library: FakeLibrary) -> None:
    library.history = ()
    assert "not available" in site.get("/cached/versions", url=ARCHIVED.url).text
    library.history = FACTS.versions

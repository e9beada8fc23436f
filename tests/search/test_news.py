"""News are pages with a publication date, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawl.crawling import settings_for
from periplus.crawl.run import Request
from periplus.errors import UsageError
from periplus.model import ListedPage
from periplus.pipeline import build, open_engine
from periplus.search.engine import SearchEngine
from search.hostile_queries import SHAPES
from search.library import Doc, give_ranks, index, opened, shelve, urls
from testweb import Page, Site, TestWeb

DAY = 86_400.0
FETCHED = 1_700_000_000.0
TEXT = "The harbour was opened again, and the first ships have come in from the sea."


def dated(path: str, days: float | None, text: str = TEXT, **fields: object) -> Doc:
    """A page that was published so many days before the fetch."""
    at = None if days is None else FETCHED - days * DAY
    return Doc(f"http://news.test/{path}", f"Story {path}", text, published=at, at=FETCHED, **fields)  # type: ignore[arg-type]


@contextmanager
def news_of(home: Path, *docs: Doc) -> Iterator[SearchEngine]:
    collection = shelve(home, docs, reparsed=True)
    index(collection)
    with opened(collection) as engine:
        yield engine


def test_the_newest_page_comes_first_and_undated_pages_are_left_out(tmp_path: Path) -> None:
    with news_of(tmp_path, dated("old", 900), dated("new", 1), dated("undated", None), dated("middle", 30)) as engine:
        found = engine.news("harbour")
        assert urls(found) == [f"http://news.test/{name}" for name in ("new", "middle", "old")]
        assert (found.total, found.total_is_exact, engine.count_news("harbour")) == (3, True, 3)
        assert [hit.date for hit in found.hits] == [FETCHED - days * DAY for days in (1, 30, 900)]
        assert "harbour" in found.hits[0].snippet


def test_pages_of_news_follow_each_other(tmp_path: Path) -> None:
    with news_of(tmp_path, *(dated(str(days), days) for days in range(1, 8))) as engine:
        pages = [urls(engine.news("harbour", page=page, size=3)) for page in (1, 2, 3, 4)]
        assert [url.rpartition("/")[2] for page in pages for url in page] == [str(days) for days in range(1, 8)]
        assert list(map(len, pages)) == [3, 3, 1, 0]
        with pytest.raises(UsageError):
            engine.news("harbour", page=0)


def test_news_have_all_words_unless_any_word_is_asked_for(tmp_path: Path) -> None:
    docs = [dated("both", 5, "A harbour with a lighthouse."), dated("one", 1, "A harbour, and nothing else.")]
    with news_of(tmp_path, *docs) as engine:
        assert urls(engine.news("harbour lighthouse")) == ["http://news.test/both"]
        found = engine.news("harbour lighthouse", mode="or")
        assert [hit.url[-4:] for hit in found.hits] == ["/one", "both"]
        assert [hit.missing for hit in found.hits] == [("lighthouse",), ()]
        assert (found.total, found.with_all_words) == (2, 1)


def test_a_date_after_the_fetch_is_not_believed(tmp_path: Path) -> None:
    """Within a day it may lack its time zone; the page then counts as published when it was fetched."""
    with news_of(tmp_path, dated("tomorrow", -0.9), dated("next-week", -7), dated("today", 0.1)) as engine:
        found = engine.news("harbour")
        assert urls(found) == ["http://news.test/tomorrow", "http://news.test/today"]
        assert found.hits[0].date == FETCHED


def test_a_page_whose_server_says_when_it_changed_is_no_news(tmp_path: Path) -> None:
    with news_of(tmp_path, dated("reference", None, modified=FETCHED - 40 * DAY)) as engine:
        assert engine.news("harbour").total == 0


def test_home_pages_lists_and_documents_are_no_news(tmp_path: Path) -> None:
    """Their date is that of the first page that they show, or of the file."""
    pdf = dated("paper.pdf", 3, mime="application/pdf")
    with news_of(tmp_path, dated("", 1), dated("genindex.html", 1), pdf, dated("story", 9)) as engine:
        assert urls(engine.news("harbour")) == ["http://news.test/story"]


def test_operators_and_spelling_work_on_news(tmp_path: Path) -> None:
    with news_of(tmp_path, dated("a", 1), dated("b", 400, f"{TEXT} Lighthouse."), *_fill()) as engine:
        assert urls(engine.news("harbour -lighthouse")) == ["http://news.test/a"]
        assert urls(engine.news("before:2023 (harbour)")) == ["http://news.test/b"]
        assert engine.news("site:other.test (harbour)").total == 0
        assert engine.news("harbuor").corrected == "harbour"
        assert engine.news("harbuor", verbatim=True).total == 0


def _fill() -> list[Doc]:
    return [Doc(f"http://fill.test/{n}", f"Harbour {n}", f"A harbour with {n} quays.", at=FETCHED) for n in range(20)]


def test_any_text_is_a_valid_query(tmp_path: Path) -> None:
    with news_of(tmp_path, dated("a", 1)) as engine:
        for shape in SHAPES.values():
            text = shape[:1_000]
            assert engine.news(text).total == engine.count_news(text) or engine.news(text).corrected


# --- feeds ---


def feed(*listed: ListedPage, at: float = FETCHED) -> Doc:
    return Doc("http://news.test/feed", "Feed", "", noindex=True, listed=listed, at=at)


def test_a_page_has_the_date_of_a_feed_when_it_states_none(tmp_path: Path) -> None:
    listed = [ListedPage(f"http://news.test/{name}", FETCHED - 2 * DAY) for name in ("undated", "stated")]
    with news_of(tmp_path, feed(*listed), dated("undated", None), dated("stated", 50)) as engine:
        assert [(hit.url, hit.date) for hit in engine.news("harbour").hits] == [
            ("http://news.test/undated", FETCHED - 2 * DAY),
            ("http://news.test/stated", FETCHED - 50 * DAY),
        ]


def test_a_later_feed_does_not_make_a_page_newer(tmp_path: Path) -> None:
    first, again = (ListedPage("http://news.test/story", FETCHED - days * DAY) for days in (9, 2))
    docs = [feed(first, at=FETCHED - DAY), feed(again), dated("story", None)]
    with news_of(tmp_path, *docs) as engine:
        assert engine.news("harbour").hits[0].date == FETCHED - 9 * DAY


def test_a_feed_that_is_read_later_dates_pages_of_an_earlier_index(tmp_path: Path) -> None:
    """The update of the index writes only the page that the feed lists."""
    collection = shelve(tmp_path, [dated("story", None), dated("other", None), *_fill()], reparsed=True)
    index(collection)
    shelve(tmp_path, [feed(ListedPage("http://news.test/story", FETCHED - DAY))], reparsed=True)
    summary = index(collection)
    assert (summary.build, summary.added) == ("update", 1)
    with opened(collection) as engine:
        assert urls(engine.news("harbour")) == ["http://news.test/story"]


def test_old_segments_without_dates_of_feeds_are_indexed(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://news.test/a", "A", TEXT)])
    give_ranks(collection, {"http://news.test/a": 1.0})
    index(collection)
    with opened(collection) as engine:
        assert engine.news("harbour").total == 0
        assert engine.search("harbour").total == 1


def _entry(path: str, date: str) -> str:
    return f"<item><title>{path[1:].title()} news</title><link>{path}</link><pubDate>{date}</pubDate></item>"


_RSS = f"""<?xml version="1.0"?><rss version="2.0"><channel><title>Port news</title>
{_entry("/quay", "Mon, 05 Jan 2026 08:00:00 GMT")}{_entry("/moved", "Wed, 07 Jan 2026 08:00:00 GMT")}
{_entry("http://other.test/foreign", "Thu, 08 Jan 2026 08:00:00 GMT")}</channel></rss>"""
_ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Lights</title>
<entry><title>Lamp trimmed</title><link href="/lamp"/><updated>2026-01-06T08:00:00Z</updated></entry></feed>"""


@pytest.mark.slow
def test_the_pages_of_crawled_feeds_are_news_with_the_date_of_the_feed(tmp_path: Path) -> None:
    """An RSS and an Atom feed; one entry redirects, one belongs to another site."""
    story = Page("Story", f"{TEXT} A story about the harbour and its people.", lang="en")
    pages = {
        "/": Page("Home", "The harbour.", links=["/news.rss", "/lights.atom", "http://other.test/foreign"], lang="en"),
        "/news.rss": Page(body=_RSS, content_type="application/rss+xml"),
        "/lights.atom": Page(body=_ATOM, content_type="application/atom+xml"),
        "/quay": story,
        "/moved": Page(redirect="/arrived"),
        "/arrived": Page("Arrived", f"{TEXT} The harbour welcomed the first of the new ferries.", lang="en"),
        "/lamp": Page("Lamp", f"{TEXT} The harbour has a lamp that was trimmed today.", lang="en"),
    }
    foreign = Page("Foreign", f"{TEXT} A harbour elsewhere.", lang="en")
    with TestWeb([Site("a.test", pages), Site("other.test", {"/foreign": foreign})]) as web:
        request = Request(tmp_path / "sea", settings_for(web), ["http://a.test/"])
        build(request)
    engine = open_engine(request)
    try:
        found = engine.news("harbour")
        assert [(hit.url, hit.date) for hit in found.hits] == [
            ("http://a.test/arrived", 1_767_772_800.0),
            ("http://a.test/lamp", 1_767_686_400.0),
            ("http://a.test/quay", 1_767_600_000.0),
        ]
        assert engine.search("lamp trimmed").hits[0].url == "http://a.test/lamp"
        assert [hit.url for hit in engine.search('"quay news"').hits] == ["http://a.test/quay"], "by the feed's title"
    finally:
        engine.close()

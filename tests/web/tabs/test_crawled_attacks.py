"""Attacks on a crawled site, in alternative texts, titles of videos and feeds, reach the browser as text."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

from crawl.crawling import settings_for
from periplus.crawl.run import Request
from periplus.parse.limits import VIDEOS
from periplus.pipeline import build, open_engine
from testweb import Page as WebPage
from testweb import Site as WebSite
from testweb import TestWeb
from web.serving import Site, searching
from web.test_browser_attacks import page as page
from web.test_browser_attacks import ran
from web.test_hostile import PAYLOADS, assert_harmless

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

AT_ONCE = VIDEOS  # payloads per page
GROUPS = [PAYLOADS[start : start + AT_ONCE] for start in range(0, len(PAYLOADS), AT_ONCE)]
TABS = ("images", "videos", "news")


def attacking(group: list[str], number: int) -> WebPage:
    """A page about a harbour, with a group of payloads around its images and videos."""
    parts = []
    for place, payload in enumerate(group):
        text = escape(f"harbour {payload}")
        parts.append(f'<figure><img src="/{number}-{place}.png" alt="{text}"><figcaption>{text}</figcaption></figure>')
        parts.append(f'<video src="/{number}-{place}.mp4" title="{text}"></video><p>{text}</p>')
    date = "<meta property=article:published_time content=2026-01-05>"
    return WebPage(title=f"Harbour {group[0]}", text="A harbour.", head=date, html="".join(parts), lang="en")


def feed() -> WebPage:
    """Lists the pages, with payloads in all texts of the items."""
    items = (
        f"<item><title>{escape(payload)}</title><description>{escape(payload)}</description>"
        f"<link>http://a.test/{number}</link><pubDate>Mon, 05 Jan 2026 08:00:00 GMT</pubDate></item>"
        for number, payload in enumerate(PAYLOADS)
    )
    body = f"<rss version='2.0'><channel><title>{escape(PAYLOADS[0])}</title>{''.join(items)}</channel></rss>"
    return WebPage(body=body, content_type="application/rss+xml")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    pages = {f"/{number}": attacking(group, number) for number, group in enumerate(GROUPS)}
    front = WebPage(title="Harbours", links=["/feed", *pages])
    with TestWeb([WebSite("a.test", {"/": front, "/feed": feed(), **pages})]) as web:
        request = Request(tmp_path_factory.mktemp("sea") / "sea", settings_for(web), ["http://a.test/"])
        crawling = get_context("spawn").Process(target=build, args=(request,))
        crawling.start()  # not in this process, where the driver of the browser runs an event loop
        crawling.join()
    assert crawling.exitcode == 0
    engine = open_engine(request)
    try:
        with searching(engine) as served:
            yield served
    finally:
        engine.close()


@pytest.mark.parametrize("tab", TABS)
def test_no_crawled_payload_becomes_markup_or_runs(page: Page, site: Site, tab: str) -> None:
    shown = 0
    for number in range(1, 6):
        path = f"/search?q=harbour&tab={tab}&size=100&page={number}"
        assert_harmless(site.get(path).page)
        page.goto(site.base + path)
        shown += page.locator("li.hit").count()
        assert ran(page) == []
    assert shown >= (len(GROUPS) if tab == "news" else 0.9 * len(PAYLOADS))

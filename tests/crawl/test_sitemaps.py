"""Are pages found that no page links to?"""

from __future__ import annotations

from pathlib import Path

from crawl.voyage import sail, segment_rows
from testweb import Page, Site, TestWeb

SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://a.test/hidden</loc><lastmod>2026-01-01</lastmod></url>
<url><loc>http://elsewhere.test/</loc></url></urlset>"""
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>The first</title><link>http://a.test/news/1</link></item></channel></rss>"""


def site() -> Site:
    pages = {
        "/": Page(title="Home", text="Welcome.", links=["/feed.xml"]),
        "/sitemap.xml": Page(body=SITEMAP, content_type="application/xml"),
        "/hidden": Page(title="Hidden", text="Only the sitemap names me."),
        "/feed.xml": Page(body=FEED, content_type="application/rss+xml"),
        "/news/1": Page(title="The first", text="Only the feed names me."),
    }
    return Site("a.test", pages, robots="User-agent: *\nSitemap: http://a.test/sitemap.xml\n")


def test_a_page_that_only_the_sitemap_names_is_found(tmp_path: Path) -> None:
    with TestWeb([site()]) as web:
        result = sail(web, tmp_path, "http://a.test/")
        assert web.log.count("a.test", "/hidden") == web.log.count("a.test", "/sitemap.xml") == 1
    assert result.summary["refused"] == {"scope_host": 1}  # a sitemap cannot widen the scope


def test_a_page_that_only_a_feed_names_is_found(tmp_path: Path) -> None:
    with TestWeb([site()]) as web:
        sail(web, tmp_path, "http://a.test/")
        assert web.log.count("a.test", "/news/1") == 1


def test_sitemaps_and_feeds_are_not_search_results_themselves(tmp_path: Path) -> None:
    with TestWeb([site()]) as web:
        sail(web, tmp_path, "http://a.test/")
    hidden = {row["url"] for row in segment_rows(tmp_path, "pages") if row["noindex"]}
    assert hidden == {"http://a.test/sitemap.xml", "http://a.test/feed.xml"}


def test_a_sitemap_that_is_no_sitemap_harms_nothing(tmp_path: Path) -> None:
    broken = site()
    broken.pages["/sitemap.xml"] = Page(body="<urlset><url><loc>not closed", content_type="application/xml")
    with TestWeb([broken]) as web:
        assert sail(web, tmp_path, "http://a.test/").summary["fetched"] == 4

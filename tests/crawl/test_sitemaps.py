"""Are pages found that only a sitemap or a feed lists?"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from crawl.crawling import catalog_of, run_crawl, segment_rows, settings_for, sound, state_of
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Request, crawl
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.model import UrlState
from testweb import Page, Site, TestWeb, hostile

SEED = "http://a.test/"


def urlset(*entries: str) -> str:
    return (
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'
    )


def entry(url: str, more: str = "") -> str:
    return f"<url><loc>{url}</loc>{more}</url>"


def index(*urls: str) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>"


def xml(body: str | bytes, content_type: str = "application/xml") -> Page:
    return Page(body=body, content_type=content_type)


LISTED = urlset(entry("http://a.test/hidden", "<lastmod>2026-01-01</lastmod>"), entry("http://elsewhere.test/"))
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>The first</title><link>http://a.test/news/1</link></item></channel></rss>"""


def site(sitemap: Page, pages: dict[str, Page] | None = None, url: str = "/sitemap.xml", rules: str = "") -> Site:
    """A site whose robots.txt names a sitemap."""
    named = {f"/{path}": page for path, page in (pages or {}).items()}
    more = {"/": Page(title="Home", links=["/feed.xml"]), "/hidden": Page(title="Hidden"), url: sitemap}
    feed = {"/feed.xml": xml(FEED, "application/rss+xml"), "/news/1": Page(title="The first")}
    return Site("a.test", more | feed | named, robots=f"User-agent: *\n{rules}Sitemap: http://a.test{url}\n")


# -- what is found --------------------------------------------------------------------------------------------------


def test_a_page_that_only_the_sitemap_names_is_found(tmp_path: Path) -> None:
    with TestWeb([site(xml(LISTED))]) as web:
        result = run_crawl(web, tmp_path, SEED)
        assert web.log.count("a.test", "/hidden") == web.log.count("a.test", "/sitemap.xml") == 1
    assert result.summary["refused"] == {"scope_host": 1}  # a sitemap cannot widen the scope
    with catalog_of(tmp_path) as catalog:
        row = catalog.url("http://a.test/hidden")
        (fetch,) = catalog.fetches_of("http://a.test/sitemap.xml")
    assert row is not None
    assert (row["admitted"], row["via"], row["depth"]) == ("listed", "http://a.test/sitemap.xml", 1)
    assert (fetch.decision.verdict, fetch.decision.reason) == ("read", "sitemap")
    assert fetch.decision.detail == "2 pages and 0 sitemaps listed."
    sound(tmp_path)


def test_a_page_that_only_a_feed_names_is_found(tmp_path: Path) -> None:
    with TestWeb([site(xml(LISTED))]) as web:
        run_crawl(web, tmp_path, SEED)
        assert web.log.count("a.test", "/news/1") == 1


def test_sitemaps_are_no_pages_and_feeds_are_not_search_results(tmp_path: Path) -> None:
    with TestWeb([site(xml(LISTED))]) as web:
        figures = run_crawl(web, tmp_path, SEED).summary
    rows = {row["url"]: row["noindex"] for row in segment_rows(tmp_path, "pages")}
    assert rows == {SEED: False, f"{SEED}hidden": False, f"{SEED}feed.xml": True, f"{SEED}news/1": False}
    assert figures["fetched"] == 4
    assert {row["source_host"] for row in segment_rows(tmp_path, "links")} == {"a.test"}
    assert f"{SEED}hidden" not in {row["target"] for row in segment_rows(tmp_path, "links")}  # it is no vote


@pytest.mark.parametrize("mime", ["application/x-gzip", "application/octet-stream", "text/xml", "", "text/html"])
def test_a_compressed_sitemap_is_read_whatever_its_content_type(tmp_path: Path, mime: str) -> None:
    with TestWeb([site(xml(gzip.compress(LISTED.encode()), mime), url="/sitemap.xml.gz")]) as web:
        run_crawl(web, tmp_path, SEED)
        assert web.log.count("a.test", "/hidden") == 1


def test_an_index_leads_to_sitemaps_and_they_to_pages(tmp_path: Path) -> None:
    parts = {f"part{n}.xml": xml(urlset(entry(f"http://a.test/p{n}"))) for n in range(3)}
    pages = {f"p{n}": Page() for n in range(3)}
    children = [f"http://a.test/part{n}.xml" for n in range(3)]
    with TestWeb([site(xml(index(*children, "http://b.test/s.xml")), parts | pages)]) as web:
        result = run_crawl(web, tmp_path, SEED)
        assert all(web.log.count("a.test", f"/p{n}") == 1 for n in range(3))
        assert web.log.entries("b.test") == []
    assert result.summary["refused"] == {"scope_host": 1}


def test_a_sitemap_of_another_workers_domain_is_read_by_that_worker(tmp_path: Path) -> None:
    names = [f"d{number}.test" for number in range(6)]
    sites = [
        Site(name, {"/s.xml.gz": xml(gzip.compress(urlset(entry(f"http://{name}/x")).encode())), "/x": Page()})
        for name in names
    ]
    listing = xml(index(*(f"http://{name}/s.xml.gz" for name in names)))
    with TestWeb([Site("a.test", {"/list": listing}), *sites]) as web:
        settings = settings_for(web, scope__hosts=[".*"])
        result = crawl(Request(tmp_path, settings, workers=2, sitemaps=["http://a.test/list"]))
        assert all(web.log.count(name, "/x") == web.log.count(name, "/s.xml.gz") == 1 for name in names)
    assert (result.failure, result.summary["fetched"]) == (None, 6)
    sound(tmp_path)


def test_a_sitemap_that_redirects_is_still_a_sitemap(tmp_path: Path) -> None:
    moved = {"new.xml.gz": xml(gzip.compress(LISTED.encode()), "application/gzip")}
    with TestWeb([site(Page(redirect="/new.xml.gz"), moved)]) as web:
        run_crawl(web, tmp_path, SEED)
        assert web.log.count("a.test", "/hidden") == 1


def test_a_sitemap_that_a_page_links_to_is_one_too(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/map.xml"]), "/map.xml": xml(LISTED), "/hidden": Page()}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, SEED)
    assert {row["url"] for row in segment_rows(tmp_path, "pages")} == {SEED, f"{SEED}hidden"}
    assert {row["target"] for row in segment_rows(tmp_path, "links")} == {f"{SEED}map.xml"}
    with catalog_of(tmp_path) as catalog:
        row, listed = catalog.url(f"{SEED}map.xml"), catalog.url(f"{SEED}hidden")
    assert row is not None
    assert listed is not None
    assert (row["reason"], row["depth"], listed["admitted"], listed["depth"]) == ("sitemap", 1, "listed", 2)
    sound(tmp_path)


def test_path_rules_and_depth_are_for_pages_and_not_for_sitemaps(tmp_path: Path) -> None:
    listed = urlset(entry("http://a.test/docs/1"), entry("http://a.test/blog/1"))
    pages = {"docs/1": Page(), "blog/1": Page()}
    with TestWeb([site(xml(listed), pages)]) as web:
        run_crawl(web, tmp_path, f"{SEED}docs/1", scope__paths=["^/docs/"], scope__depth=0)
        assert sorted(web.log.paths("a.test")) == ["/docs/1", "/robots.txt", "/sitemap.xml"]


def test_robots_may_forbid_its_own_sitemap(tmp_path: Path) -> None:
    with TestWeb([site(xml(LISTED), rules="Disallow: /sitemap\n")]) as web:
        run_crawl(web, tmp_path, SEED)
        assert web.log.count("a.test", "/sitemap.xml") == 0
    assert state_of(tmp_path, f"{SEED}sitemap.xml") == (UrlState.REFUSED, "robots")


# -- in which order -------------------------------------------------------------------------------------------------


def test_pages_with_a_higher_sitemap_priority_come_first_within_their_depth(tmp_path: Path) -> None:
    entries = [
        entry("http://a.test/low", "<priority>0.1</priority>"),
        entry("http://a.test/high", "<priority>1.0</priority>"),
        entry("http://a.test/fresh", "<priority>1.0</priority><lastmod>2100-01-01</lastmod>"),
        entry("http://a.test/new", "<priority>1.0</priority><lastmod>2026-11-01</lastmod>"),
    ]
    pages = {name: Page() for name in ("low", "high", "fresh", "new")}
    with TestWeb([site(xml(urlset(*entries)), pages)]) as web:
        run_crawl(web, tmp_path, SEED, budget=Budget(pages=2))
    with catalog_of(tmp_path) as catalog:
        found = {path: catalog.url(SEED + path) for path in ("low", "high", "fresh", "new", "feed.xml")}
    order = sorted(found, key=lambda path: found[path]["priority"])  # type: ignore[index]
    assert order[0] == "new"
    assert set(order[1:3]) == {"high", "fresh"}  # a change in the future is not believed
    assert order[3:] == ["low", "feed.xml"]


def test_a_sitemap_sets_no_priority_for_pages_of_other_domains(tmp_path: Path) -> None:
    listed = urlset(entry("http://b.test/x", "<priority>1.0</priority>"), entry("http://a.test/hidden"))
    with TestWeb([site(xml(listed)), Site("b.test", {"/x": Page()})]) as web:
        run_crawl(web, tmp_path, SEED, scope__hosts=["[ab].test"])
        assert web.log.count("b.test", "/x") == 1
    with catalog_of(tmp_path) as catalog:
        ours, theirs = catalog.url("http://a.test/hidden"), catalog.url("http://b.test/x")
    assert ours is not None
    assert theirs is not None
    assert ours["priority"] < 1.0 == theirs["priority"]


# -- broken and hostile ones ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "detail"),
    [
        (xml("<urlset><url><loc>not closed"), "0 pages and 0 sitemaps listed. The sitemap is truncated"),
        (xml(LISTED[:105]), "The sitemap is truncated"),
        (xml("<html><body>Not found</body></html>", "text/html"), "Not a sitemap or feed, but an HTML page"),
        (xml(b"\x1f\x8b\x08\x00damaged", "application/gzip"), "The gzip data is damaged"),
        (xml("", "text/xml"), "The sitemap is empty."),
    ],
    ids=["not closed", "cut", "html", "gzip", "empty"],
)
def test_a_broken_sitemap_harms_nothing_and_the_detail_names_the_problem(
    tmp_path: Path, page: Page, detail: str
) -> None:
    with TestWeb([site(page)]) as web:
        assert run_crawl(web, tmp_path, SEED).summary["fetched"] == 3
    with catalog_of(tmp_path) as catalog:
        (fetch,) = catalog.fetches_of(f"{SEED}sitemap.xml")
    assert detail in fetch.decision.detail
    sound(tmp_path)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Page(status=404), "http_error"),
        (Page(body=b"\x89PNG", content_type="image/png"), "wrong_type"),
        (Page(handler=hostile.hang_up), "cut_short"),
    ],
)
def test_an_unreachable_sitemap_is_an_error_like_any_other(tmp_path: Path, page: Page, reason: str) -> None:
    with TestWeb([site(page)]) as web:
        run_crawl(web, tmp_path, SEED)
    assert state_of(tmp_path, f"{SEED}sitemap.xml") == (UrlState.FAILED, reason)


def test_an_index_that_leads_to_ever_new_indexes_ends(tmp_path: Path) -> None:
    maze = {f"i{n}.xml": xml(index(f"http://a.test/i{n + 1}.xml", "http://a.test/sitemap.xml")) for n in range(50)}
    with TestWeb([site(xml(index("http://a.test/i0.xml")), maze)]) as web:
        result = run_crawl(web, tmp_path, SEED, fetch__redirects=3)
        assert web.log.count("a.test", "/i2.xml") == 1
        assert web.log.count("a.test", "/i3.xml") == 0
    assert result.summary["refused"]["too_many_redirects"] == 2  # the next one, and the first one again


def test_no_more_of_a_sitemap_is_read_than_its_limit(tmp_path: Path) -> None:
    listed = urlset(*(entry(f"http://a.test/{n}") for n in range(1000)))
    with TestWeb([site(xml(listed))]) as web:
        run_crawl(web, tmp_path, SEED, fetch__sitemap_bytes=2000)
    with catalog_of(tmp_path) as catalog:
        assert 20 < catalog.counters()["known"] < 80


def test_a_long_sitemap_delays_no_other_host_and_survives_a_kill(tmp_path: Path) -> None:
    entries = urlset(*(entry(f"http://a.test/page/{number}") for number in range(3_000)))
    stopped: list[int] = []
    follow = LinkIntake.follow_list

    def interrupted(self: LinkIntake, *more: Any) -> Iterator[None]:
        for number, _ in enumerate(follow(self, *more)):
            stopped.append(number)
            if number == 5:
                raise KeyboardInterrupt
            yield

    with TestWeb([site(xml(entries))]) as web:
        with mock.patch.object(LinkIntake, "follow_list", interrupted), suppress(KeyboardInterrupt):
            run_crawl(web, tmp_path, SEED, scope__depth=1)
        assert len(stopped) == 6, "others had their turn"
        with catalog_of(tmp_path) as catalog:
            row = catalog.url("http://a.test/sitemap.xml")
        assert row is None or row["state"] == UrlState.QUEUED, "it does not count as read"
        run_crawl(web, tmp_path, SEED, budget=Budget(pages=2))
    assert state_of(tmp_path, "http://a.test/sitemap.xml")[0] == UrlState.DONE
    with catalog_of(tmp_path) as catalog:
        assert catalog.url("http://a.test/page/2999") is not None
    sound(tmp_path)

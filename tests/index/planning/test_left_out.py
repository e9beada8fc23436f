"""A page that must not be indexed is missing from the next generation, and the summary has the reason."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import environment, reach, run_crawl, typed
from index.content import urls_of
from index.live import live_index
from periplus.config import Indexing
from periplus.frontier.scope import page_rules
from periplus.index.build import IndexSummary, build_index
from periplus.model import Decision, QueuedUrl, Reason, UrlState, Verdict
from periplus.store.catalog.batch import Batch, Settled, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from periplus.url import host_of
from search.library import Doc, settings, shelve
from store.warcs import page as record
from testweb import Page, Site, TestWeb

SEED = "http://a.test/"


def build(collection: Collection, **scope: object) -> tuple[IndexSummary, set[str]]:
    """The summary of a new generation under some rules of scope, and the URLs in it."""
    rules = page_rules(settings(**{f"scope__{name}": value for name, value in scope.items()}).scope)
    summary = build_index(collection, Indexing(memory_mb=128), rules=rules)
    return summary, set(urls_of(live_index(collection)))


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    addresses = ["http://a.test/", "http://a.test/private/x", "http://b.test/", "http://b.test/file.zip"]
    return shelve(tmp_path, [Doc(url, f"Page {number}") for number, url in enumerate(addresses)])


def test_without_rules_of_scope_every_host_is_shown(collection: Collection) -> None:
    summary, urls = build(collection, skip_extensions=[])
    assert (len(urls), summary.left_out) == (4, {})


def test_a_host_that_is_blocked_later_leaves_with_all_its_pages(collection: Collection) -> None:
    build(collection)
    summary, urls = build(collection, hosts=["(?!b[.]).*"])
    assert urls == {"http://a.test/", "http://a.test/private/x"}
    assert summary.left_out == {"scope_host": 2}
    assert summary.duplicates == 0


def test_a_path_or_ending_that_is_refused_later_leaves(collection: Collection) -> None:
    summary, urls = build(collection, paths=["^/(?!private)"])
    assert urls == {"http://a.test/", "http://b.test/"}
    assert summary.left_out == {"extension": 1, "scope_path": 1}


def test_noindex_pages_are_counted_too(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "shown"), Doc("http://a.test/x", noindex=True)])
    summary, urls = build(collection)
    assert (urls, summary.left_out) == ({"http://a.test/"}, {"noindex": 1})


# -- what the web says ----------------------------------------------------------------------------------------------


def crawled(web: TestWeb, home: Path, *seeds: str, **flags: Any) -> None:
    run_crawl(web, home, *(seeds or (SEED,)), **flags)


def site(**pages: Page) -> Site:
    named = {f"/{name}": page for name, page in pages.items()}
    return Site("a.test", {"/": Page("Home", links=list(named)), **named})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Page(status=404), "http_error"),
        (Page(status=410), "http_error"),
        (Page(status=301, headers={"Location": "/"}), "redirected"),
    ],
)
def test_a_page_that_is_gone_or_has_moved_leaves(tmp_path: Path, answer: Page, reason: str) -> None:
    with TestWeb([site(x=Page("X"))]) as web:
        crawled(web, tmp_path)
        assert len(build(open_collection(tmp_path))[1]) == 2
        web.site("a.test").pages["/x"] = answer
        crawled(web, tmp_path, f"{SEED}x")
    summary, urls = build(open_collection(tmp_path))
    assert (urls, summary.left_out) == ({SEED}, {reason: 1})


@pytest.mark.parametrize("status", [500, 503, 403])
def test_a_page_that_fails_for_a_while_stays(tmp_path: Path, status: int) -> None:
    with TestWeb([site(x=Page("X"))]) as web:
        crawled(web, tmp_path)
        web.site("a.test").pages["/x"] = Page(status=status)
        crawled(web, tmp_path, f"{SEED}x", fetch__attempts=1)
    summary, urls = build(open_collection(tmp_path))
    assert (urls, summary.left_out) == ({SEED, f"{SEED}x"}, {})


def refuse(collection: Collection, url: str, reason: Reason) -> None:
    """Note that a page that was fetched before is refused by now."""
    with closing(open_catalog(collection)) as catalog:
        row = catalog.url(url)
        assert row is not None
        item = QueuedUrl(url, host_of(url), 0, 0.0, Reason.LINK, visits=1, visited=2e9)
        settled = Settled(item, UrlState.REFUSED, Decision(Verdict.REFUSED, reason))
        catalog.commit(Batch(settled=[settled]), Written(0, "w00-000001.warc.gz", 0), 1, {})


@pytest.mark.parametrize("reason", [Reason.ROBOTS, Reason.CRAWL_DELAY_TOO_LONG, Reason.PRIVATE_ADDRESS])
def test_a_page_that_its_site_or_our_guard_refuses_by_now_leaves(collection: Collection, reason: Reason) -> None:
    refuse(collection, "http://a.test/", reason)
    summary, urls = build(collection, skip_extensions=[])
    assert "http://a.test/" not in urls
    assert summary.left_out == {reason.value: 1}


def test_a_crawl_without_a_contact_takes_nothing_from_the_index(collection: Collection) -> None:
    refuse(collection, "http://a.test/", Reason.NO_CONTACT)
    assert build(collection, skip_extensions=[])[0].left_out == {}


def test_a_page_comes_back_when_the_scope_covers_it_again(collection: Collection) -> None:
    refuse(collection, "http://b.test/", Reason.SCOPE_HOST)
    assert build(collection, skip_extensions=[])[0].left_out == {}
    assert build(collection, skip_extensions=[], hosts=["a[.]test"])[0].left_out == {"scope_host": 2}


# -- what a person types --------------------------------------------------------------------------------------------


def test_the_command_says_what_it_left_out_and_inspect_says_why(tmp_path: Path) -> None:
    home = tmp_path / "c"
    with TestWeb([site(x=Page("X")), Site("b.test", {"/": Page("B")})]) as web:
        options: list[str | Path] = ["--home", home, "--scope-host", ".*", *reach(web)]
        assert typed("crawl", SEED, "http://b.test/", *options).code == 0
        assert typed("index", "--home", home, "--json").json["left_out"] == {}
        blocked = environment(scope__hosts="a[.]test")
        assert typed("index", "--home", home, "--json", env=blocked).json["left_out"] == {"scope_host": 1}
        assert "left out    1 scope_host" in typed("index", "--home", home, env=blocked).out
        inspected = typed("inspect", "url", "http://b.test/", "--home", home, env=blocked).out
        assert "left out: scope_host (b.test matches none of scope.hosts)" in inspected
        assert "left out" not in typed("inspect", "url", SEED, "--home", home, env=blocked).out


def test_an_imported_page_stays_in_the_index_with_ignore_scope(tmp_path: Path) -> None:
    home, file = tmp_path / "c", tmp_path / "pages.warc"
    file.write_bytes(record("Muziris", "http://a.test/") + record("Barygaza", "http://b.test/"))
    only_a = environment(scope__hosts="a[.]test")
    found = typed("import", file, "--home", home, "--json", env=only_a).json
    assert (found["pages"], found["skipped"]) == (1, {"scope_host": 1})
    assert typed("import", file, "--home", home, "--json", "--ignore-scope", env=only_a).json["pages"] == 1
    assert typed("index", "--home", home, "--json", env=only_a).json["left_out"] == {}
    assert typed("search", "barygaza", "--home", home, "--json", env=only_a).json["total"] == 1
    only_c = environment(scope__hosts="c[.]test")
    assert typed("index", "--home", home, "--json", env=only_c).json["left_out"] == {"scope_host": 1}
    assert typed("import", file, "--home", home, "--json", "--ignore-scope", env=only_c).json["skipped"] == {"known": 2}
    assert typed("index", "--home", home, "--json", env=only_c).json["left_out"] == {}
    assert typed("verify", "--home", home).code == 0

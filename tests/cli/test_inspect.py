"""Does `periplus inspect url` explain a page to a person?"""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.voyage import sail, typed
from testweb import Page, Site, TestWeb, hostile

SEED = "http://a.test/"
KNOWN = [
    "url", "url_id", "host", "domain", "known", "state", "reason", "detail", "depth", "admitted", "via", "attempts",
    "first_seen", "host_policy", "robots", "fetches", "rank",
]  # fmt: skip
STRANGER = [
    "url", "url_id", "host", "domain", "known", "state", "reason", "detail", "via", "host_policy", "robots",
    "fetches", "rank",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    pages = {
        "/": Page(links=["/late", "/secret", "http://b.test/"]),
        "/late": Page(handler=hostile.in_turn(Page(status=500), Page())),
    }
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /secret\nCrawl-delay: 0.1")]) as web:
        sail(web, home, SEED)
    return home


def rows(home: Path, url: str) -> dict[str, str]:
    outcome = typed("inspect", "url", url, "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    return {line[:21].split("  ")[0]: line.rstrip() for line in outcome.out.splitlines()}


def test_the_json_has_exactly_these_keys(home: Path) -> None:
    assert list(typed("inspect", "url", SEED, "--home", home, "--json").json) == KNOWN
    assert list(typed("inspect", "url", "http://b.test/", "--home", home, "--json").json) == STRANGER
    fetch = typed("inspect", "url", SEED, "--home", home, "--json").json["fetches"][0]
    assert list(fetch) == [
        "at", "status", "verdict", "reason", "detail", "mime", "bytes", "seconds", "content_id", "redirect_to",
        "archive",
    ]  # fmt: skip


def test_a_page_that_is_here(home: Path) -> None:
    text = typed("inspect", "url", f"{SEED}late", "--home", home).out
    assert "done" in text
    assert "as link at depth 1, by http://a.test/" in text
    assert "allows it (no rule matches; fetched " in text
    assert "0.1 s between requests (Crawl-delay in robots.txt), 0 errors in a row" in text
    assert "500: delayed, retry (answered 500; try 2 follows)" in text
    assert "200: fetched, ok; " in text
    assert "w00-000001.warc.gz at " in text


def test_a_page_that_robots_forbids(home: Path) -> None:
    found = rows(home, f"{SEED}secret")
    assert found["state"].endswith("refused")
    assert found["reason"].endswith("robots (robots.txt line 2: Disallow: /secret)")
    assert "forbids it (line 2: Disallow: /secret; fetched " in found["robots.txt"]


def test_a_page_that_was_never_wanted(home: Path) -> None:
    found = rows(home, "http://b.test/")
    assert found["state"].endswith("unknown")
    assert "scope_host (b.test is not the host of a seed" in found["reason"]
    assert found["linked from"].endswith(SEED)


def test_a_seed_says_so(home: Path) -> None:
    assert "as seed at depth 0, by the command line" in rows(home, SEED)["admitted"]


def test_what_is_no_address_is_a_usage_error(home: Path) -> None:
    outcome = typed("inspect", "url", "nonsense", "--home", home)
    assert outcome.code == 2
    assert "'nonsense' cannot be crawled: not a web address" in outcome.complaint

"""`periplus inspect` explains a URL or a host."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import environment, periplus, run_crawl, typed
from periplus.cli.commands.inspect import subject_kind
from testweb import Page, Site, TestWeb, hostile

SEED = "http://a.test/"
KNOWN = [
    "url", "url_id", "host", "domain", "known", "state", "reason", "detail", "depth", "admitted", "via", "attempts",
    "first_seen", "host_policy", "robots", "plan", "versions", "left_out", "fetches", "copy_of", "copies", "quality",
    "rank", "words", "verdict",
]  # fmt: skip
UNKNOWN = [
    "url", "url_id", "host", "domain", "known", "state", "reason", "detail", "via", "host_policy", "robots",
    "plan", "versions", "left_out", "fetches", "copy_of", "copies", "quality", "rank", "words", "verdict",
]  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    pages = {
        "/": Page(links=["/late", "/secret", "http://b.test/"]),
        "/late": Page(handler=hostile.in_turn(Page(status=500), Page())),
    }
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /secret\nCrawl-delay: 0.1")]) as web:
        run_crawl(web, home, SEED)
    return home


def rows(home: Path, url: str) -> dict[str, str]:
    outcome = typed("inspect", "url", url, "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    return {line[:21].split("  ")[0]: line.rstrip() for line in outcome.out.splitlines()}


def test_the_json_has_exactly_these_keys(home: Path) -> None:
    assert list(typed("inspect", "url", SEED, "--home", home, "--json").json) == KNOWN
    assert list(typed("inspect", "url", "http://b.test/", "--home", home, "--json").json) == UNKNOWN
    fetch = typed("inspect", "url", SEED, "--home", home, "--json").json["fetches"][0]
    assert list(fetch) == [
        "at", "status", "verdict", "reason", "detail", "mime", "bytes", "seconds", "content_id", "redirect_to",
        "archive",
    ]  # fmt: skip


def test_a_page_that_is_here(home: Path) -> None:
    text = typed("inspect", "url", f"{SEED}late", "--home", home).out
    assert "done" in text
    assert "as link at depth 1, via http://a.test/" in text
    assert "allowed (no rule matches; fetched " in text
    assert "0.1 s between requests (Crawl-delay in robots.txt), 0 errors in a row" in text
    assert "500: delayed, retry (HTTP 500; attempt 2 follows)" in text
    assert "200: fetched, ok; " in text
    assert "w00-000001.warc.gz at " in text


def test_a_page_that_robots_forbids(home: Path) -> None:
    found = rows(home, f"{SEED}secret")
    assert found["state"].endswith("refused")
    assert found["reason"].endswith("robots (robots.txt line 2: Disallow: /secret)")
    assert "disallowed (line 2: Disallow: /secret; fetched " in found["robots.txt"]


def test_a_page_that_was_never_wanted(home: Path) -> None:
    found = rows(home, "http://b.test/")
    assert found["state"].endswith("unknown")
    assert "scope_host (b.test is not the host of a seed" in found["reason"]
    assert found["linked from"].endswith(SEED)


def test_a_seed_says_so(home: Path) -> None:
    assert "as seed at depth 0, via the command line" in rows(home, SEED)["found"]


def test_what_is_no_address_is_a_usage_error(home: Path) -> None:
    outcome = typed("inspect", "url", "nonsense", "--home", home)
    assert outcome.code == 2
    assert "'nonsense' cannot be crawled: not a URL" in outcome.complaint


# -- hosts ----------------------------------------------------------------------------------------------------------


def test_the_json_of_a_host_has_exactly_these_keys(home: Path) -> None:
    found = typed("inspect", "host", "a.test", "--home", home, "--json").json
    assert list(found) == [
        "host", "domain", "known", "scope", "refused_links", "politeness", "robots", "urls", "queue", "errors",
        "refused", "cap", "traps", "quality",
    ]  # fmt: skip
    assert list(found["politeness"]) == ["delay", "why", "next_fetch", "failures"]
    assert list(found["robots"][0]) == [
        "origin", "fetched_at", "expires_at", "status", "otherwise", "crawl_delay", "rules", "sitemaps",
    ]  # fmt: skip


def test_a_host_is_explained_line_by_line(home: Path) -> None:
    outcome = typed("inspect", "host", "a.test", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    rows = [(line[:15].strip(), line[15:].strip()) for line in outcome.out.splitlines()]
    found = dict(rows)
    assert rows[:3] == [
        ("host", "a.test"),
        ("scope", "in scope"),
        ("delay", "0.1 s (Crawl-delay in robots.txt)"),
    ]
    assert found["robots.txt"].startswith("http://a.test: 200, fetched 20")
    assert (found["crawl-delay"], found["line 2"]) == ("0.1 s", "Disallow: /secret")
    assert found["URLs"] == "3 known: 2 done, 0 queued, 1 refused, 0 failed"
    assert (found["errors"], found["refused"], found["links refused"]) == ("-", "1 robots", "-")
    assert found["caps"] == "a.test has 3 of 10,000 URLs and 1 of 2,000 hosts"


def test_an_unknown_host_gets_one_line_with_the_verdict_of_today(home: Path) -> None:
    outcome = typed("inspect", "host", "b.test", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        "b.test is not in this collection: "
        "scope_host (b.test is not the host of a seed, and scope.hosts is empty); "
        "refused links to it: 1 scope_host\n"
    )
    env = environment(scope__hosts=".*")
    outcome = typed("inspect", "host", "c.test", "--home", home, env=env)
    assert outcome.out == "c.test is not in this collection: it is in scope; no crawled page links to it\n"


def test_what_is_no_host_is_a_usage_error(home: Path) -> None:
    outcome = typed("inspect", "host", "a b", "--home", home)
    assert outcome.code == 2
    assert "cannot be crawled" in outcome.complaint


def test_a_version_is_written_as_it_was_archived(home: Path) -> None:
    outcome = periplus("inspect", "url", SEED, "--home", home, "--version", "1")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("<!DOCTYPE html>")
    assert "has no version 2: it has 1" in typed("inspect", "url", SEED, "--home", home, "--version", "2").complaint


@pytest.mark.parametrize(
    ("typed_text", "kind"),
    [
        (SEED, "url"),
        ("a.test/late", "url"),
        ("a.test", "host"),
        ("localhost", "host"),
        ("word", "term"),
        ("etc.", "term"),
    ],
)
def test_without_a_subcommand_the_text_decides_what_is_inspected(typed_text: str, kind: str) -> None:
    assert subject_kind(typed_text) == kind


def test_a_url_and_a_host_are_inspected_without_a_subcommand(home: Path) -> None:
    assert typed("inspect", SEED, "--home", home).out == typed("inspect", "url", SEED, "--home", home).out
    assert typed("inspect", "a.test", "--home", home).out == typed("inspect", "host", "a.test", "--home", home).out

"""The report about a host shows its delay, robots.txt, queue, errors and caps, with reasons."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for
from periplus.crawl.assignment import Budget
from periplus.errors import BadUrl
from periplus.inspector.host_report import host_report
from testweb import Page, Site, TestWeb

SEED = "http://www.a.test/"
ROBOTS = """User-agent: *
Disallow: /secret
Disallow: /*.cgi$
Crawl-delay: 0.05
Sitemap: http://www.a.test/sitemap.xml

User-agent: other
Disallow: /
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    links = ["/1", "/gone", "/lost", "/secret", "/x.zip", "http://b.test/", "http://b.test/2", "/tired"]
    pages = {"/": Page(links=links), "/1": Page(), "/tired": Page(status=503, headers={"Retry-After": "900"})}
    with TestWeb([Site("www.a.test", pages, robots=ROBOTS)]) as web:
        run_crawl(web, home, SEED, fetch__attempts=2)
    return home


def report(home: Path, host: str, **flags: Any) -> dict[str, Any]:
    with catalog_of(home) as catalog:
        return host_report(catalog, settings_for(None, **flags), host)


def test_urls_are_counted_by_state_errors_and_refusals_by_reason(home: Path) -> None:
    found = report(home, "www.a.test")
    assert (found["host"], found["domain"], found["known"]) == ("www.a.test", "a.test", True)
    assert found["urls"] == {"known": 7, "queued": 1, "done": 2, "refused": 1, "failed": 3}
    assert (found["errors"], found["refused"]) == ({"http_error": 3}, {"robots": 1})
    assert found["refused_links"] == {"extension": 1}


def test_the_delay_is_reported_with_its_reason_and_the_next_fetch(home: Path) -> None:
    polite = report(home, "www.a.test")["politeness"]
    assert (polite["delay"], polite["why"], polite["failures"]) == (0.05, "Retry-After of 900 s", 1)
    assert time.time() + 600 < polite["next_fetch"] < time.time() + 901


def test_the_queue_shows_its_best_and_when_they_are_due(home: Path) -> None:
    (waiting,) = report(home, "www.a.test")["queue"]
    assert waiting["url"] == f"{SEED}tired"
    assert waiting["due"] > 0


def test_the_robots_rules_for_our_user_agent_are_reported(home: Path) -> None:
    (robots,) = report(home, "www.a.test")["robots"]
    assert (robots["origin"], robots["status"], robots["crawl_delay"]) == ("http://www.a.test", 200, 0.05)
    assert robots["rules"] == [
        {"line_number": 2, "line": "Disallow: /secret"},
        {"line_number": 3, "line": "Disallow: /*.cgi$"},
    ]
    assert robots["sitemaps"] == ["http://www.a.test/sitemap.xml"]
    assert robots["expires_at"] == robots["fetched_at"] + 86_400


def test_the_caps_of_the_domain_are_reported_with_their_use(home: Path) -> None:
    found = report(home, "www.a.test", scope__domain_pages={"a.test": 7}, scope__hosts_per_domain=3)
    assert found["cap"] == {"domain": "a.test", "urls": 7, "urls_allowed": 7, "hosts": 1, "hosts_allowed": 3}
    assert report(home, "www.a.test")["cap"]["urls_allowed"] == 10_000


@pytest.mark.parametrize("spelling", ["WWW.A.test", " www.a.test", "http://www.a.test:8080/x?y", "www.a.test:80"])
def test_any_spelling_of_the_host_finds_it(home: Path, spelling: str) -> None:
    assert report(home, spelling)["host"] == "www.a.test"


def test_a_host_that_was_never_admitted_gets_the_verdict_of_today(home: Path) -> None:
    found = report(home, "b.test")
    assert list(found) == ["host", "domain", "known", "scope", "refused_links"]
    assert (found["known"], found["scope"]["admitted"]) == (False, False)
    assert found["scope"]["reason"] == "scope_host"
    assert "b.test is not the host of a seed" in found["scope"]["detail"]
    assert found["refused_links"] == {"scope_host": 2}
    assert report(home, "b.test", scope__hosts=["b.test"])["scope"]["admitted"] is True


def test_hosts_whose_names_begin_alike_are_not_mixed_up(tmp_path: Path) -> None:
    names = ("a.test", "a.test.evil.test", "aa.test")
    with TestWeb([Site(name, {"/": Page(), "/2": Page()}) for name in names]) as web:
        rules = [*web.connect_to, f"a.test:8080:127.0.0.1:{web.http_port}"]
        seeds = [*(f"http://{name}/" for name in names), "http://a.test:8080/2"]
        run_crawl(web, tmp_path, *seeds, fetch__connect_to=rules)
    found = report(tmp_path, "a.test")
    assert found["urls"]["known"] == 2
    assert [robots["origin"] for robots in found["robots"]] == ["http://a.test", "http://a.test:8080"]


def test_a_host_whose_robots_file_could_not_be_had_says_so(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page()}, robots=Page(status=503))]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    found = report(tmp_path, "a.test")
    assert found["robots"][0]["otherwise"] == "robots.txt returned 503: nothing is allowed"
    assert found["politeness"]["why"] == "robots.txt unreachable: HTTP 503"


def test_a_host_that_waits_for_nothing_has_no_next_moment(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page()})]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(seconds=0))
    found = report(tmp_path, "a.test")
    assert found["politeness"] == {"delay": 0.0, "why": "politeness.delay", "next_fetch": None, "failures": 0}
    assert (found["robots"], found["urls"]["queued"]) == ([], 1)


@pytest.mark.parametrize("text", ["", "a b", "ftp://a.test/", "http://"])
def test_what_is_no_host_is_refused(home: Path, text: str) -> None:
    with pytest.raises(BadUrl):
        report(home, text)

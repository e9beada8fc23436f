"""The report about a URL explains why it was crawled, or why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, settings_for
from periplus.errors import BadUrl
from periplus.inspector.url_report import url_history
from periplus.model import ArchivePosition
from periplus.store.archive.warc_files import read_response
from periplus.url import url_id
from testweb import Page, Site, TestWeb, hostile

SEED = "http://a.test/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    pages = {
        "/": Page(
            links=["/end", "/gone", "/moved", "/late", "/secret/x", "/a.zip", "http://b.test/y"],
            html='<a href="/unloved" rel="nofollow">x</a>',
        ),
        "/end": Page("End", etag="v1"),
        "/gone": Page(status=410),
        "/moved": Page(redirect="/end"),
        "/late": Page(handler=hostile.in_turn(Page(status=503), Page("Late"))),
    }
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /secret/\nCrawl-delay: 0.05")]) as web:
        run_crawl(web, home, SEED)
    return home


def history(home: Path, url: str, **flags: Any) -> dict[str, Any]:
    with catalog_of(home) as catalog:
        return url_history(catalog, settings_for(None, **flags), url)


def test_a_page_that_is_here_tells_where_it_came_from_and_where_it_lies(home: Path) -> None:
    found = history(home, f"{SEED}end")
    assert found["url"] == f"{SEED}end"
    assert found["url_id"] == url_id(f"{SEED}end").hex()
    assert (found["host"], found["domain"], found["known"], found["state"]) == ("a.test", "a.test", True, "done")
    assert (found["reason"], found["admitted"], found["depth"], found["via"]) == ("ok", "link", 1, SEED)
    (fetch,) = found["fetches"]
    assert (fetch["status"], fetch["verdict"], fetch["reason"], fetch["mime"]) == (200, "fetched", "ok", "text/html")
    place = fetch["archive"]
    response = read_response(home / "archive", ArchivePosition(place["file"], place["offset"], place["length"]))
    assert b"<title>End</title>" in response.body
    assert fetch["bytes"] == len(response.body)


def test_a_seed_is_known_as_one(home: Path) -> None:
    found = history(home, SEED)
    assert (found["admitted"], found["via"], found["depth"]) == ("seed", "", 0)


@pytest.mark.parametrize(
    "spelling", ["HTTP://A.TEST:80/end#part", "http://a.test/x/../end", " http://a.test/end?utm_id=1"]
)
def test_any_spelling_of_the_address_finds_it(home: Path, spelling: str) -> None:
    assert history(home, spelling)["url"] == f"{SEED}end"


@pytest.mark.parametrize(
    ("path", "state", "reason", "detail"),
    [
        ("gone", "failed", "http_error", "410"),
        ("moved", "done", "redirected", "http://a.test/end"),
        ("secret/x", "refused", "robots", "robots.txt line 2: Disallow: /secret/"),
        ("a.zip", "unknown", "extension", ".zip is in scope.skip_extensions"),
        ("unloved", "unknown", "nofollow", ""),
        ("never/linked", "unknown", "never_met", "it is in scope, but no crawled page links to it"),
    ],
)
def test_a_page_that_is_not_here_says_why(home: Path, path: str, state: str, reason: str, detail: str) -> None:
    found = history(home, SEED + path)
    assert (found["state"], found["reason"], found["detail"]) == (state, reason, detail)
    assert found["known"] == (state != "unknown")


def test_a_refused_link_names_the_page_that_linked_to_it(home: Path) -> None:
    found = history(home, "http://b.test/y")
    assert (found["reason"], found["via"]) == ("scope_host", SEED)
    assert (found["host_policy"], found["robots"], found["fetches"]) == (None, None, [])


def test_an_unknown_url_is_judged_by_the_current_settings(home: Path) -> None:
    assert history(home, f"{SEED}new", scope__paths=["^/docs"])["reason"] == "scope_path"
    assert history(home, "http://c.test/", scope__hosts=["c.test"])["reason"] == "never_met"


def test_an_unknown_url_that_robots_disallows_names_the_line(home: Path) -> None:
    found = history(home, f"{SEED}secret/never/linked")
    assert (found["reason"], found["detail"]) == ("robots", "robots.txt line 2: Disallow: /secret/")


def test_an_unknown_url_of_a_full_domain_names_the_cap(home: Path) -> None:
    found = history(home, f"{SEED}new", scope__pages_per_domain=2)
    assert found["reason"] == "domain_cap"
    assert found["detail"] == "a.test has 6 URLs, the limit of scope.pages_per_domain"
    found = history(home, "http://www.a.test/", scope__hosts=[".*"], scope__hosts_per_domain=1)
    assert found["detail"] == "a.test has 1 hosts, the limit of scope.hosts_per_domain"
    assert history(home, f"{SEED}new", scope__hosts_per_domain=1)["reason"] == "never_met"


def test_a_link_that_was_refused_is_judged_by_the_current_rules(home: Path) -> None:
    found = history(home, f"{SEED}a.zip", scope__skip_extensions=["gz"])
    assert found["reason"] == "never_met"
    assert found["detail"] == (
        "it is in scope; a link to it was refused before: extension (.zip is in scope.skip_extensions)"
    )
    assert history(home, f"{SEED}unloved", scope__skip_extensions=["gz"])["reason"] == "nofollow"


def test_every_attempt_is_listed_in_order(home: Path) -> None:
    found = history(home, f"{SEED}late")
    assert found["attempts"] == 1
    assert [(one["status"], one["verdict"]) for one in found["fetches"]] == [(503, "delayed"), (200, "fetched")]
    assert found["fetches"][0]["detail"] == "HTTP 503; attempt 2 follows"
    assert all(one["archive"] for one in found["fetches"])


def test_robots_and_the_delay_of_the_host_are_reported(home: Path) -> None:
    found = history(home, f"{SEED}secret/x")
    assert found["robots"]["allowed"] is False
    assert (found["robots"]["line"], found["robots"]["line_number"]) == ("Disallow: /secret/", 2)
    assert (found["robots"]["status"], found["host_policy"]["delay"]) == (200, 0.05)
    assert history(home, SEED)["robots"]["allowed"] is True


def test_what_is_not_an_address_is_refused(home: Path) -> None:
    with pytest.raises(BadUrl):
        history(home, "not an address")

"""A newcomer crawls, ranks, indexes and searches with the documented commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import environment, periplus, reach
from testweb import Page, Site, TestWeb

pytestmark = pytest.mark.slow


@pytest.fixture
def web() -> Iterator[TestWeb]:
    """The site of a small harbour museum, as its webmaster would have it."""
    pages = {
        "/": Page("Harbour museum", "Ships and ropes.", links=["/ships", "/ropes", "/admin/", "http://shop.test/"]),
        "/ships": Page("Ships", "All our ships.", links=["/", "/ships/argo", "/old-ships"]),
        "/ships/argo": Page("Argo", "The oldest one."),
        "/ropes": Page("Ropes", "A room full of ropes.", links=["/"]),
        "/old-ships": Page(redirect="/ships"),
        "/admin/": Page("Secret"),
    }
    with TestWeb([Site("museum.test", pages, robots="User-agent: *\nDisallow: /admin/")]) as running:
        yield running


def test_the_first_hour(web: TestWeb, tmp_path: Path) -> None:
    bare = {name: value for name, value in environment().items() if not name.startswith("PERIPLUS_")}

    def run(*arguments: str) -> dict[str, object]:
        outcome = periplus(*arguments, "--json", cwd=tmp_path, env=bare)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return outcome.json

    # Crawl: the defaults are polite, one second between two requests.
    command = ["crawl", "http://museum.test/", *reach(web)]
    crawled = run(*command, "--delay", "0.2")
    assert (crawled["fetched"], crawled["refused"]) == (4, {"robots": 1, "scope_host": 1})
    assert (tmp_path / "periplus-data").is_dir()
    assert min(web.log.gaps("museum.test")) > 0.1
    assert web.log.count("museum.test", "/admin/") == 0
    assert web.log.entries()[0].user_agent.startswith("Periplus/")

    # Look at what there is.
    status = run("status")
    assert status["seeds"] == ["http://museum.test/"]
    assert isinstance(status["urls"], dict)
    assert (status["urls"]["fetched"], status["urls"]["refused"]) == (4, 1)

    # Find out why one page was crawled and another was not.
    argo = run("inspect", "url", "http://museum.test/ships/argo")
    assert (argo["state"], argo["via"], argo["depth"]) == ("done", "http://museum.test/ships", 2)
    assert run("inspect", "url", "http://museum.test/admin/")["reason"] == "robots"
    assert run("inspect", "url", "http://shop.test/")["reason"] == "scope_host"
    assert run("inspect", "url", "http://museum.test/old-ships")["detail"] == "http://museum.test/ships"

    # Be sure that all is well.
    assert run("verify")["ok"] is True

    # Run the same command again: only the seed is recrawled.
    requests = len(web.log.entries())
    again = run(*command)
    assert (again["fetched"], again["run_id"]) == (1, 2)
    assert len(web.log.entries()) == requests + 1

    # A new page is not noticed, but a new seed is.
    web.site("museum.test").pages["/news"] = Page("News", links=["/ships/argo"])
    more = run("crawl", "http://museum.test/news", *reach(web))
    assert more["fetched"] == 1
    assert len(web.log.entries()) == requests + 2
    assert run("verify")["ok"] is True


def test_a_crawl_without_a_contact_is_refused(tmp_path: Path) -> None:
    """A private address is refused first, and the message and the second try agree."""
    with TestWeb([Site("127.0.0.1", {"/": Page("Home")})]) as web:
        url = f"http://127.0.0.1:{web.http_port}/"
        refused = periplus("crawl", url, "--home", tmp_path)
        assert refused.code == 1
        assert "refused by private_address" in refused.complaint
        assert web.log.connections() == []
        allowed = periplus("crawl", url, "--home", tmp_path, "--allow-private", "--json")
        assert (allowed.code, allowed.json["fetched"]) == (0, 1)


def test_a_slip_of_the_finger_is_answered_with_what_to_do(tmp_path: Path) -> None:
    for arguments, words in (
        (["crawl", "ftp://museum.test"], "A URL starts with http:// or https://"),
        (["crawl"], "Name a URL: periplus crawl URL"),
        (["status"], "`periplus crawl URL` makes one"),
    ):
        outcome = periplus(*arguments, "--home", tmp_path / "home")
        assert outcome.code in (1, 2)
        assert words in outcome.complaint

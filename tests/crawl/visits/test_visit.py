"""Does every visit obey robots.txt, the delay of its host and the guard against private addresses?"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from crawl.crawling import catalog_of, detail_of, run_crawl, sound, state_of
from periplus.crawl.assignment import Budget, Ending
from periplus.model import UrlState
from testweb import Page, Site, TestWeb, hostile, many_hosts, mesh

DELAY = 0.3
JITTER = 0.1  # seconds by which a request may reach the server late, on a busy machine


def delays_kept(web: TestWeb, host: str, delay: float = DELAY) -> bool:
    return min(web.log.gaps(host)) >= delay - JITTER


# -- rules of robots.txt ----------------------------------------------------------------------------------------------


def test_nothing_that_robots_disallows_is_ever_requested(tmp_path: Path) -> None:
    pages = {
        "/": Page(links=["/open", "/secret/", "/secret/door", "/secret/open-day", "/a.php?x=1"]),
        "/open": Page(links=["/secret/two"]),
        "/secret/open-day": Page(),
        "/secret/": Page(),
    }
    robots = "User-agent: *\nDisallow: /secret/\nAllow: /secret/open\nDisallow: /*?\n"
    with TestWeb([Site("a.test", pages, robots)]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/")
        assert sorted(web.log.paths("a.test")) == ["/", "/open", "/robots.txt", "/secret/open-day"]
    assert result.summary["refused"] == {"robots": 4}
    assert state_of(tmp_path, "http://a.test/secret/door") == (UrlState.REFUSED, "robots")
    assert detail_of(tmp_path, "http://a.test/secret/door") == "robots.txt line 2: Disallow: /secret/"
    sound(tmp_path)


def test_not_one_of_many_pages_is_fetched_against_robots(tmp_path: Path) -> None:
    sites = [replace(site, robots="User-agent: *\nDisallow: /page/1\nAllow: /page/10\n") for site in many_hosts(8, 60)]
    with TestWeb(sites) as web:
        result = run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"])
        asked = {entry.path for entry in web.log.entries()}
    assert not [path for path in asked if path.startswith("/page/1") and not path.startswith("/page/10")]
    assert "/page/10" in asked
    assert result.summary["refused"]["robots"] == 8 * 10
    sound(tmp_path)


def test_our_own_group_in_robots_counts_and_not_the_one_for_everybody(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/all", "/ours"]), "/all": Page(), "/ours": Page()}
    robots = "User-agent: *\nDisallow: /all\n\nUser-agent: Periplus\nDisallow: /ours\n"
    with TestWeb([Site("a.test", pages, robots)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        assert sorted(web.log.paths("a.test")) == ["/", "/all", "/robots.txt"]


def test_robots_is_fetched_once_per_origin_and_before_anything_else(tmp_path: Path) -> None:
    with TestWeb(many_hosts(5, 8)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"])
        for number in range(1, 6):
            paths = web.log.paths(f"h000{number}.test")
            assert paths[0] == "/robots.txt"
            assert paths.count("/robots.txt") == 1
            assert len(paths) == 9


def test_http_and_https_have_a_robots_file_each(tmp_path: Path) -> None:
    sites = [
        Site("a.test", {"/": Page(links=["https://a.test/x", "https://a.test/y"])}, scheme="http"),
        Site("a.test", {"/x": Page(), "/y": Page()}, robots="User-agent: *\nDisallow: /y", scheme="https"),
    ]
    with TestWeb(sites, https=True) as web:
        run_crawl(web, tmp_path, "http://a.test/", fetch__ca_file=str(web.ca_file))
        assert [entry.url for entry in web.log.entries()] == [
            "http://a.test/robots.txt",
            "http://a.test/",
            "https://a.test/robots.txt",
            "https://a.test/x",
        ]


def test_the_next_run_uses_the_robots_file_it_has(tmp_path: Path) -> None:
    pages = {"/": Page(), "/new": Page(), "/x": Page()}
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /x")]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        second = run_crawl(web, tmp_path, "http://a.test/new", "http://a.test/x")
        assert web.log.paths("a.test") == ["/robots.txt", "/", "/new"]
    assert second.summary["refused"] == {"robots": 1}


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_site_without_robots_file_allows_everything(tmp_path: Path, status: int) -> None:
    with TestWeb([Site("a.test", {"/": Page()}, robots=Page(status=status))]) as web:
        assert run_crawl(web, tmp_path, "http://a.test/").summary["fetched"] == 1


@pytest.mark.parametrize("robots", [Page(status=500), Page(status=503), Page(status=429), Page(handler=hostile.reset)])
def test_a_site_whose_robots_file_is_unreachable_is_not_crawled(tmp_path: Path, robots: Page) -> None:
    sites = [Site("a.test", {"/": Page()}, robots), mesh("b.test", 3)]
    with TestWeb(sites) as web:
        began = time.monotonic()
        result = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/")
        assert time.monotonic() - began < 20
        assert set(web.log.paths("a.test")) == {"/robots.txt"}
    assert (result.ending, result.failure, result.summary["fetched"]) == (Ending.DONE, None, 3)
    assert state_of(tmp_path, "http://a.test/")[0] == UrlState.QUEUED


@pytest.mark.parametrize("robots", [Page(status=503), Page(handler=hostile.short_body)])
def test_the_next_run_fetches_an_unreachable_robots_file_again(tmp_path: Path, robots: Page) -> None:
    pages = {"/": Page(links=["/x"]), "/x": Page()}
    with TestWeb([Site("a.test", pages, robots)]) as web:
        failed = run_crawl(web, tmp_path, "http://a.test/")
        assert "robots.txt unreachable" in str(failed.failure)
        web.add(Site("a.test", pages, robots="User-agent: *\nDisallow: /x"))
        result = run_crawl(web, tmp_path, "http://a.test/")
        assert web.log.count("a.test", "/") == 1
        assert web.log.count("a.test", "/x") == 0
    assert (result.summary["fetched"], result.summary["refused"]) == (1, {"robots": 1})


@pytest.mark.parametrize("hops", [1, 5, 6])
def test_a_robots_file_may_redirect_five_times(tmp_path: Path, hops: int) -> None:
    pages = {"/": Page(links=["/x"]), "/x": Page()}
    robots = Page(redirect="/moved/1")
    pages |= {f"/moved/{n}": Page(redirect=f"/moved/{n + 1}") for n in range(1, hops)}
    pages[f"/moved/{hops}"] = Page(body="User-agent: *\nDisallow: /x", content_type="text/plain")
    with TestWeb([Site("a.test", pages, robots)]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        # RFC 9309: after five hops the file counts as missing, and everything is allowed.
        assert web.log.count("a.test", "/x") == (hops > 5)
        assert web.log.count("a.test", "/moved/6") == 0


def test_a_robots_file_on_another_host_is_followed(tmp_path: Path) -> None:
    sites = [
        Site("a.test", {"/": Page(links=["/x"]), "/x": Page()}, Page(redirect="http://www.a.test/robots.txt")),
        Site("www.a.test", {}, "User-agent: *\nDisallow: /x"),
    ]
    with TestWeb(sites) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        assert web.log.paths("a.test") == ["/robots.txt", "/"]


def test_a_robots_file_that_redirects_to_a_host_outside_scope_hosts_is_not_fetched(tmp_path: Path) -> None:
    """Its site is not crawled either: it has rules that we do not know."""
    sites = [
        Site("a.test", {"/": Page()}, Page(redirect="/moved")),
        Site("blocked.test", {"/": Page()}, "User-agent: *\nDisallow: /x"),
        mesh("b.test", 3),
    ]
    sites[0].pages["/moved"] = Page(redirect="http://blocked.test/robots.txt")
    with TestWeb(sites) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/", scope__hosts=[r"[ab]\.test"])
        assert web.log.paths("blocked.test") == []
        assert web.log.paths("a.test") == ["/robots.txt", "/moved"]
        assert (result.summary["fetched"], result.summary["queued"]) == (3, 1)
        assert result.summary["parked"] == {"scope_host": 1}
        assert result.summary["refused"] == {"scope_host": 1}
        with catalog_of(tmp_path) as catalog:
            policy = catalog.policy("a.test")
        assert policy is not None
        assert "http://blocked.test/robots.txt" in policy.why
        assert "matches none of scope.hosts" in policy.why
        wider = run_crawl(web, tmp_path, "http://a.test/", scope__hosts=[r"(a|b|blocked)\.test"])
        assert wider.summary["fetched"] == 1
        assert web.log.paths("blocked.test") == ["/robots.txt"]


def test_a_huge_robots_file_is_read_as_far_as_allowed(tmp_path: Path) -> None:
    start = "User-agent: *\nDisallow: /x\n" + "# filler\n" * 60_000
    pages = {"/": Page(links=["/x"])}
    with TestWeb([Site("a.test", pages, robots=Page(body=start, size=20_000_000, content_type="text/plain"))]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        assert web.log.paths("a.test") == ["/robots.txt", "/"]


@pytest.mark.slow
def test_the_next_run_obeys_many_large_robots_files_without_fetching_them_again(tmp_path: Path) -> None:
    rules = "User-agent: *\nDisallow: /x\n" + "".join(f"Disallow: /{number}/\n" for number in range(6_000))
    pages = {"/": Page(), "/new": Page(), "/x": Page()}
    with TestWeb([Site(f"h{number}.test", pages, robots=rules) for number in range(4)]) as web:
        for path in ("", "new", "x"):
            result = run_crawl(web, tmp_path, *(f"http://h{number}.test/{path}" for number in range(4)))
        for number in range(4):
            assert web.log.paths(f"h{number}.test") == ["/robots.txt", "/", "/new"]
    assert result.summary["refused"] == {"robots": 4}


def test_a_crawl_delay_over_the_limit_refuses_the_host_with_a_reason(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page()}, robots="User-agent: *\nCrawl-delay: 3600")]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/")
        assert web.log.paths("a.test") == ["/robots.txt"]
    assert result.summary["refused"] == {"crawl_delay_too_long": 1}
    assert "Crawl-delay 3600 s exceeds politeness.longest_crawl_delay = 30 s" in str(result.failure)


# -- how often a host is fetched --------------------------------------------------------------------------------------


def test_the_delay_is_kept_between_all_requests_to_a_host_robots_included(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3), mesh("b.test", 3)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", "http://b.test/", politeness__delay=DELAY)
        for host in ("a.test", "b.test"):
            assert web.log.paths(host)[0] == "/robots.txt"
            assert delays_kept(web, host)
        began, ended = ([web.log.entries(host)[end].started for host in ("a.test", "b.test")] for end in (0, -1))
        assert max(began) < min(ended), "both hosts at the same time"


def test_a_crawl_delay_is_obeyed_also_by_the_next_run(tmp_path: Path) -> None:
    pages = {"/": Page(), "/two": Page(), "/three": Page()}
    with TestWeb([Site("a.test", pages, robots=f"User-agent: *\nCrawl-delay: {DELAY}")]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
        run_crawl(web, tmp_path, "http://a.test/two", "http://a.test/three")
        assert len(web.log.paths("a.test")) == 4
        assert delays_kept(web, "a.test")


def test_the_delay_is_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 6)]) as web:
        for _ in range(3):
            run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=1), politeness__delay=DELAY)
        assert len(web.log.paths("a.test")) == 4
        assert delays_kept(web, "a.test")


def test_the_delay_is_kept_while_a_robots_file_redirects(tmp_path: Path) -> None:
    pages = {"/": Page(), "/r": Page(body="", content_type="text/plain")}
    with TestWeb([Site("a.test", pages, robots=Page(redirect="/r"))]) as web:
        run_crawl(web, tmp_path, "http://a.test/", politeness__delay=DELAY)
        assert web.log.paths("a.test") == ["/robots.txt", "/r", "/"]
        assert delays_kept(web, "a.test")


def test_a_robots_file_that_redirects_to_a_host_being_crawled_waits_for_its_delay(tmp_path: Path) -> None:
    moved = Site("a.test", {"/": Page()}, Page(redirect="http://b.test/robots.txt"))
    with TestWeb([mesh("b.test", 2), moved]) as web:
        run_crawl(web, tmp_path, "http://b.test/", "http://a.test/", politeness__delay=DELAY)
        assert web.log.count("b.test", "/robots.txt") == 2
        assert delays_kept(web, "b.test")


def test_a_large_robots_file_of_another_host_takes_no_memory_once_it_was_read(tmp_path: Path) -> None:
    rules = Page(body=b"# rules\n" * 200_000, content_type="text/plain")
    large = Page("Large", "word " * 400_000)
    sites = [Site("a.test", {"/": large}, robots=Page(redirect="http://b.test/r")), Site("b.test", {"/r": rules})]
    with TestWeb(sites) as web:
        sizes = {"fetch__robots_bytes": 2 << 20, "fetch__large_bytes": 2 << 20}
        result = run_crawl(web, tmp_path, "http://a.test/", budget=Budget(seconds=20), **sizes)
    assert (result.ending, result.summary["fetched"]) == (Ending.DONE, 1)


def test_a_redirected_robots_file_is_never_fetched_while_its_host_answers_another_request(tmp_path: Path) -> None:
    """Ten hosts redirect to one that is slow and has queued URLs of its own."""
    moved = [Site(f"m{number}.test", {"/": Page()}, Page(redirect="http://b.test/robots.txt")) for number in range(10)]
    pages = {"/": Page(links=[f"/{page}" for page in range(10)], delay=0.1)}
    pages |= {f"/{page}": Page(delay=0.1) for page in range(10)}
    slow = Site("b.test", pages, robots=Page(body="", content_type="text/plain", delay=0.1))
    with TestWeb([slow, *moved]) as web:
        result = run_crawl(web, tmp_path, "http://b.test/", *(f"http://{site.host}/" for site in moved))
        assert web.log.count("b.test", "/robots.txt") == 11
        assert web.log.max_concurrent("b.test") == 1
        assert web.log.max_connections("b.test") == 1
    assert result.summary["fetched"] == 21
    sound(tmp_path)


def test_two_robots_files_that_redirect_to_each_other_end(tmp_path: Path) -> None:
    sites = [
        Site("a.test", {"/": Page()}, Page(redirect="http://b.test/robots.txt")),
        Site("b.test", {"/": Page()}, Page(redirect="http://a.test/robots.txt")),
    ]
    with TestWeb(sites) as web:
        result = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/")
        assert (web.log.count("a.test"), web.log.count("b.test")) == (7, 7)
    assert result.summary["fetched"] == 2


def test_a_site_whose_robots_file_redirects_to_a_parked_host_is_parked_too(tmp_path: Path) -> None:
    tired = Site("b.test", {"/": Page(status=503, headers={"Retry-After": "7200"})})
    moved = Site(
        "a.test", {"/": Page()}, Page(handler=hostile.in_turn(Page(status=500), Page(redirect="http://b.test/r")))
    )
    with TestWeb([tired, moved]) as web:
        for _ in range(2):
            result = run_crawl(web, tmp_path, "http://b.test/", "http://a.test/")
        assert web.log.paths("b.test") == ["/robots.txt", "/"]
        assert web.log.count("a.test", "/") == 0
    assert result.summary["queued"] == 2


def test_a_host_never_has_two_connections_at_once(tmp_path: Path) -> None:
    with TestWeb(many_hosts(4, 20)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"])
        for number in range(1, 5):
            assert web.log.count(f"h000{number}.test") == 21
            assert web.log.max_connections(f"h000{number}.test") == 1
            assert web.log.max_concurrent(f"h000{number}.test") == 1


def test_a_host_with_a_retry_after_is_not_fetched_before(tmp_path: Path) -> None:
    busy = Page(handler=hostile.in_turn(Page(status=503, headers={"Retry-After": "1"}), Page()))
    with TestWeb([Site("a.test", {"/": busy})]) as web:
        result = run_crawl(web, tmp_path, "http://a.test/")
        assert web.log.paths("a.test") == ["/robots.txt", "/", "/"]
        assert web.log.gaps("a.test")[1] >= 1 - JITTER
    assert (result.summary["fetched"], result.summary["errors"]) == (1, {"http_503": 1})
    sound(tmp_path)


def test_a_retry_after_of_hours_does_not_keep_the_crawl_running(tmp_path: Path) -> None:
    tired = Page(status=503, headers={"Retry-After": "7200"})
    with TestWeb([Site("a.test", {"/": tired}), mesh("b.test", 5)]) as web:
        for requests in (2, 2):  # the second run makes no request
            began = time.monotonic()
            result = run_crawl(web, tmp_path, "http://a.test/", "http://b.test/")
            assert time.monotonic() - began < 20
            assert web.log.count("a.test") == requests
            assert result.summary["queued"] == 1
    sound(tmp_path)


# -- addresses that must not be dialled -------------------------------------------------------------------------------


def test_a_private_address_is_refused_without_a_single_connection(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)]) as web:
        local = f"http://127.0.0.1:{web.http_port}/"
        result = run_crawl(None, tmp_path, local, f"http://localhost:{web.http_port}/x")
        assert web.log.connections() == []
    assert result.summary["refused"] == {"private_address": 2}
    assert (
        f"{local}: refused by private_address (127.0.0.1 is a private address; add --allow-private to crawl it)"
        in str(result.failure)
    )


def test_a_link_or_redirect_to_a_private_address_is_refused_too(tmp_path: Path) -> None:
    """The test web itself is reached through an exception made for its port; the addresses behind are not."""
    pages = {"/": Page(links=["http://127.0.0.2/", "/away"]), "/away": Page(redirect="http://169.254.169.254/latest/")}
    with TestWeb([Site("a.test", pages)]) as web:
        rules = [f"a.test:80:127.0.0.1:{web.http_port}"]
        result = run_crawl(web, tmp_path, "http://a.test/", fetch__connect_to=rules, scope__hosts=[".*"])
    assert state_of(tmp_path, "http://169.254.169.254/latest/") == (UrlState.REFUSED, "private_address")
    assert result.summary["refused"]["private_address"] == 1


def test_a_refused_seed_gets_another_chance_when_it_is_allowed(tmp_path: Path) -> None:
    with TestWeb([Site("127.0.0.1", {"/": Page()})]) as web:
        local = f"http://127.0.0.1:{web.http_port}/"
        assert run_crawl(None, tmp_path, local).failure is not None
        result = run_crawl(web, tmp_path, local)
        assert (result.failure, result.summary["fetched"]) == (None, 1)
    sound(tmp_path)


def test_many_urls_of_a_private_host_take_no_time(tmp_path: Path) -> None:
    links = [f"http://127.0.0.2/{number}" for number in range(100)]
    with TestWeb([Site("a.test", {"/": Page(links=links)})]) as web:
        rules = [f"a.test:80:127.0.0.1:{web.http_port}", "127.0.0.2:80:169.254.0.1:80"]
        began = time.monotonic()
        result = run_crawl(
            web, tmp_path, "http://a.test/", fetch__connect_to=rules, scope__hosts=[".*"], politeness__delay=0.5
        )
        assert time.monotonic() - began < 30  # with a delay for each it would take 50 seconds
    assert result.summary["refused"] == {"private_address": 100}

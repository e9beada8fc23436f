"""The owner directs a running crawl from a real browser, and the request log of the web shows it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from console.filled import TRAP, Filling, fill, showing
from control.running import crawling, until
from periplus.inspector.generation_list import list_generations
from search.library import Doc, index, shelve
from testweb import TestWeb, many_hosts, mesh

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

WATCHED = 1.5  # seconds in which a crawl would make many requests
START = ("http://h0001.test/", "--scope-host", ".*")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_a_seed_is_added_and_crawled(browser: Browser, tmp_path: Path, scripts: bool) -> None:
    sites = [*many_hosts(20, 30), mesh("island.test", 4)]  # no page links to the island
    with (
        TestWeb(sites) as web,
        crawling(web, tmp_path, *START, POLITENESS__DELAY=0.3) as crawl,
        showing(tmp_path) as site,
        browser.new_context(java_script_enabled=scripts) as context,
    ):
        crawl.until_fetched(5)
        page = context.new_page()
        page.goto(site.base + "/console/")
        page.get_by_role("link", name="Seeds").click()
        page.get_by_label("Seeds, one URL a line").fill("http://island.test/")
        page.get_by_role("button", name="Add").click()
        page.get_by_text("1 URL added.").wait_for()
        until(
            lambda: len([url for url in web.log.fetched() if "island.test" in str(url)]) == 4, "the pages of the seed"
        )

        def is_done() -> bool:
            page.goto(site.base + "/console/seeds")
            return page.get_by_role("row", name=re.compile("island.test.*done")).count() == 1

        until(is_done, "the state of the seed")


def test_a_pause_makes_the_request_log_quiet(browser: Browser, tmp_path: Path) -> None:
    with (
        TestWeb(many_hosts(20, 30)) as web,
        crawling(web, tmp_path, *START, POLITENESS__DELAY=0.2) as crawl,
        showing(tmp_path) as site,
        browser.new_context() as context,
    ):
        crawl.until_fetched(5)
        page = context.new_page()
        page.goto(site.base + "/console/")
        page.locator("#live-state").get_by_text("running, 1 worker").wait_for()
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("The crawl pauses.").wait_for()
        page.locator("#live-state").get_by_text("paused, 1 worker").wait_for()  # by an event, without a reload
        quiet = crawl.until_quiet()
        time.sleep(WATCHED)
        assert len(web.log.entries()) == quiet
        page.reload()
        page.get_by_role("button", name="Resume").click()
        until(lambda: len(web.log.entries()) > quiet, "new requests")


def test_a_blocked_host_gets_no_request(browser: Browser, tmp_path: Path) -> None:
    with (
        TestWeb(many_hosts(8, 40)) as web,
        crawling(web, tmp_path, *START, POLITENESS__DELAY=0.3) as crawl,
        showing(tmp_path) as site,
        browser.new_context() as context,
    ):
        crawl.until_fetched(16)
        page = context.new_page()
        page.goto(site.base + "/console/hosts?order=name&contains=h0003")
        page.get_by_role("button", name="Block h0003.test").click()
        page.get_by_text("Block h0003.test?").wait_for()
        page.get_by_role("button", name="Block").click()
        page.get_by_text(re.compile("h0003.test is blocked; .* refused")).wait_for()
        until(lambda: not crawl.state().pending, "the command")
        crawl.until_states("running")

        def requests() -> int:
            return sum("h0003.test" in str(entry) for entry in web.log.entries())

        until(
            lambda: (
                not any(
                    "h0003" in one["url"]
                    for row in crawl.state().workers
                    for one in row.figures["visits"]
                    if one["step"] in ("fetch", "connect", "dns", "robots")
                )
            ),
            "the last request",
        )
        before = requests()
        time.sleep(WATCHED)
        assert requests() == before
        page.goto(site.base + "/console/inspect?what=h0003.test")
        page.get_by_text("You blocked h0003.test").wait_for()
        page.get_by_role("button", name="Unblock h0003.test").click()
        page.get_by_text("h0003.test is no longer blocked").wait_for()


def test_a_generation_is_rolled_back(browser: Browser, tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(collection)
    shelve(tmp_path, [Doc("http://b.test/", "Second", "word")])
    index(collection)
    with showing(tmp_path) as site, browser.new_context() as context:
        page = context.new_page()
        page.goto(site.base + "/console/generations")
        page.get_by_role("button", name="Make live generation 1 of the index").click()
        page.get_by_text("Make generation 1 of the index live?").wait_for()
        page.get_by_role("button", name="Roll back").click()
        page.get_by_text("Generation 1 of the index is live.").wait_for()
        assert page.get_by_role("button", name="Make live generation 2 of the index").is_visible()
        page.goto(site.base + "/console/inspect?what=http://b.test/")
        assert page.locator(".verdict.indexed").count() == 0
        page.goto(site.base + "/console/inspect?what=http://a.test/")
        page.locator(".verdict.indexed").wait_for()
    assert [(one.generation, one.live) for one in list_generations(collection)] == [(2, False), (1, True)]


def test_a_trap_is_unlearned_from_the_inspector(browser: Browser, tmp_path: Path) -> None:
    fill(tmp_path / "home", Filling(hosts=1, is_running=False))
    with showing(tmp_path / "home") as site, browser.new_context() as context:
        page = context.new_page()
        page.goto(site.base + "/console/")
        page.get_by_label("URL or host to inspect").fill("https://docs.example.org/calendar?day=77")
        page.get_by_role("button", name="Inspect").first.click()
        page.get_by_text(f"55 of 60 pages like {TRAP} said nothing new").first.wait_for()
        page.get_by_role("button", name="Unlearn this pattern").click()
        page.get_by_text("is never suspected again; 1 URL queued again.").wait_for()
        page.get_by_text("Queued to be fetched.").wait_for()
        page.get_by_role("link", name="Traps").click()
        page.get_by_text("No URL pattern is a suspected trap.").wait_for()


def test_the_scope_is_changed_after_a_dry_run(browser: Browser, tmp_path: Path) -> None:
    fill(tmp_path / "home", Filling(hosts=4, is_running=False))
    with showing(tmp_path / "home") as site, browser.new_context() as context:
        page = context.new_page()
        page.goto(site.base + "/console/inspect?what=https://other.example/a")
        page.get_by_role("link", name="Change the scope").click()
        assert "other[.]example" in page.locator("textarea[name=hosts]").input_value()
        page.get_by_role("button", name="Try it on the queue").click()
        assert "other[.]example" in page.locator(".difference .added").inner_text()
        page.get_by_role("button", name="Write it").click()
        page.get_by_text("periplus.toml has the new scope.").wait_for()
    assert "other[.]example" in (tmp_path / "home" / "periplus.toml").read_text()

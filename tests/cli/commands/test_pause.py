"""`periplus pause`, `resume`, `stop`, `seed`, `block` and `retry` say what happened in one sentence."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from control.running import crawling, until
from crawl.crawling import run_crawl, sound, typed, wait
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, mesh


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with TestWeb([Site("a.test", {"/": Page(links=["/gone"])})]) as web:
        run_crawl(web, tmp_path / "home", "http://a.test/")
    return tmp_path / "home"


def said(*words: str, home: Path) -> str:
    outcome = typed(*words, "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out.strip()


def test_without_a_crawl_every_command_says_what_the_next_one_does(home: Path) -> None:
    assert said("pause", home=home) == "No crawl is running; the next one starts paused."
    assert "paused         yes: `periplus resume` continues the crawl" in said("status", home=home)
    assert said("resume", home=home) == "No crawl is running; the next one starts at once."
    assert said("stop", home=home) == "No crawl is running."
    assert said("block", "a.test", home=home) == "Blocked a.test; 0 queued URLs will not be fetched."
    assert said("block", "--list", home=home).splitlines()[1].startswith("a.test  20")
    assert said("unblock", "a.test", home=home) == "Unblocked a.test; queued 0 URLs."
    assert said("block", "--list", home=home) == "No host is blocked."
    assert said("retry", "a.test", home=home) == "Queued 1 URL of a.test. Run `periplus crawl` to fetch them."
    added = said("seed", "add", "b.test", home=home)
    assert added == "Added 1 seed. Run `periplus crawl` to fetch it."
    listed = [line.split() for line in said("seed", "list", home=home).splitlines()]
    assert listed[1:] == [["http://a.test/", "done", "ok"], ["https://b.test/", "waiting"]]
    assert said("seed", "remove", "b.test", home=home) == "Removed the seed https://b.test/. b.test left the scope."
    sound(home)


def test_the_json_objects_have_these_keys(home: Path) -> None:
    def keys(*words: str) -> list[str]:
        return list(typed(*words, "--home", home, "--json").json)

    assert keys("pause") == ["paused", "running", "under_way"]
    assert keys("resume") == ["paused", "running", "under_way"]
    assert keys("stop", "--now") == ["stopped", "dropped", "running", "under_way"]
    assert keys("block", "c.test") == ["host", "refused", "running", "under_way"]
    assert keys("block", "--list") == ["blocked"]
    assert keys("unblock", "c.test") == ["host", "queued", "running", "under_way"]
    assert keys("retry", "a.test") == ["retried", "queued", "running", "under_way"]
    assert keys("seed", "add", "http://c.test/") == ["seeds", "running", "under_way"]
    assert keys("seed", "remove", "http://c.test/") == [
        "urls",
        "refused",
        "hosts",
        "is_configured",
        "running",
        "under_way",
    ]
    assert keys("seed", "list") == ["seeds"]


def test_a_seed_that_is_refused_is_an_error(home: Path) -> None:
    said("block", "b.test", home=home)
    outcome = typed("seed", "add", "http://b.test/", "--home", home)
    assert outcome.code == 1
    assert outcome.out == "Added 0 seeds. Refused http://b.test/: blocked (b.test is blocked).\n"
    assert outcome.complaint.startswith("periplus: no seed was added: http://b.test/: blocked (b.test is blocked).")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["seed", "add"], "name a URL"),
        (["seed", "remove", "http://no.test/"], "http://no.test/ is no seed"),
        (["block"], "name a host or use --list"),
        (["unblock", "no.test"], "no.test is not blocked"),
        (["retry", "no.test"], "no.test is unknown"),
    ],
)
def test_a_wrong_command_says_what_to_do(home: Path, words: list[str], complaint: str) -> None:
    outcome = typed(*words, "--home", home)
    assert outcome.code == 2
    assert complaint in outcome.complaint


def test_a_removed_seed_that_the_settings_name_is_mentioned(home: Path) -> None:
    (home / "periplus.toml").write_text('[scope]\nseeds = ["http://a.test/"]\n')
    sentence = said("seed", "remove", "http://a.test/", home=home)
    assert "`scope.seeds` in periplus.toml still names it" in sentence


def test_without_a_collection_there_is_an_error(tmp_path: Path) -> None:
    outcome = typed("pause", "--home", tmp_path / "none")
    assert outcome.code == 1
    assert "holds no collection" in outcome.complaint


@pytest.mark.slow
def test_a_running_crawl_is_paused_shown_resumed_and_stopped(tmp_path: Path) -> None:
    slow = {"/": Page(links=["/slow", "/2"]), "/slow": Page(delay=4.0), "/2": Page()}
    with (
        TestWeb([Site("a.test", slow), mesh("b.test", 2)]) as web,
        crawling(web, tmp_path, "http://a.test/", "--continuous") as crawl,
    ):
        until(lambda: web.log.count("a.test", "/slow"), "the slow page")
        assert said("pause", home=tmp_path) == "Paused. 1 request under way will finish."
        shown = said("status", home=tmp_path)
        assert ": paused, " in shown
        assert "1 active request" in shown
        assert said("seed", "add", "http://b.test/", home=tmp_path).endswith("The running crawl fetches it.")
        assert said("resume", home=tmp_path) == "Resumed."
        until(lambda: web.log.count("b.test") == 3, "the new seed")
        crawl.until_states("idle")
        assert said("stop", home=tmp_path) == "Stopping."
        assert wait(crawl.child).code == 130
    sound(tmp_path)


def test_the_name_of_a_node_that_does_not_exist_is_refused(home: Path) -> None:
    with closing(open_catalog(open_collection(home), LiveState)) as live:
        live.publish(WorkerRow("crawl-1", Role.CRAWL, 0, 1, time.time(), time.time(), "running", 0, {}))
    refused = typed("stop", "--node", "crawl-l", "--home", home)
    assert (refused.code, refused.out) == (2, "")
    assert "there is no node crawl-l: the nodes are crawl-1" in refused.complaint
    with closing(open_catalog(open_collection(home), LiveState)) as live:
        assert live.last_command() == 0

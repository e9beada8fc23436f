"""Does each round fetch the URLs known when it began, and nothing else?"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from crawl.crawling import catalog_of, settings_for, sound
from periplus.crawl.assignment import Budget, Ending
from periplus.crawl.run import Request, Result, crawl
from periplus.errors import UsageError
from periplus.store.catalog.catalog import Catalog
from testweb import Page, Site, TestWeb, hostile, many_hosts, tree

SEED = "http://a.test/"


def in_rounds(web: TestWeb, home: Path, rounds: int | None, *seeds: str, **more: Any) -> Result:
    budget, workers, sitemaps = more.pop("budget", Budget()), more.pop("workers", 1), more.pop("sitemaps", ())
    settings = settings_for(web, **more)
    return crawl(Request(home, settings, seeds, budget, workers, sitemaps=sitemaps, rounds=rounds))


def figures(result: Result) -> list[tuple[int, int, int, int]]:
    rounds = result.summary["rounds"]
    assert all(list(one) == ["round", "known", "fresh", "fetched", "seconds"] for one in rounds)
    return [(one["round"], one["known"], one["fresh"], one["fetched"]) for one in rounds]


@pytest.mark.parametrize("workers", [1, 2])
def test_each_round_fetches_the_urls_known_when_it_began(tmp_path: Path, workers: int) -> None:
    with TestWeb([tree("a.test", 3, 3)]) as web:
        result = in_rounds(web, tmp_path, 2, SEED, workers=workers)
        assert len(web.log.fetched()) == 4
        assert figures(result) == [(1, 4, 4, 1), (2, 13, 9, 3)]
        assert (result.ending, result.summary["fetched"], result.summary["queued"]) == (Ending.BUDGET, 4, 9)
        more = in_rounds(web, tmp_path, 9, workers=workers)
        assert figures(more) == [(1, 40, 27, 9), (2, 40, 0, 27)]
        assert (more.ending, more.summary["queued"]) == (Ending.DONE, 0)
        assert set(web.log.fetched().values()) == {1}
    sound(tmp_path)


@pytest.mark.parametrize("workers", [1, 2])
def test_links_into_other_domains_wait_too(tmp_path: Path, workers: int) -> None:
    with TestWeb(many_hosts(8, 10)) as web:
        result = in_rounds(web, tmp_path, 1, "http://h0001.test/", workers=workers, scope__hosts=[".*"])
        assert len(web.log.fetched()) == 1
        assert result.summary["known_urls"] == result.summary["queued"] + 1 > 2
        in_rounds(web, tmp_path, None, workers=workers, scope__hosts=[".*"])
        assert len(web.log.fetched()) == 80
        assert set(web.log.fetched().values()) == {1}
    sound(tmp_path)


def test_urls_held_for_a_round_are_fetched_by_a_crawl_without_rounds(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 2, 3)]) as web:
        in_rounds(web, tmp_path, 1, SEED)
        result = in_rounds(web, tmp_path, None)
        assert len(web.log.fetched()) == 15
    assert "rounds" not in result.summary
    assert result.ending is Ending.DONE


def test_a_redirect_is_followed_within_its_round(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page(redirect="/home"), "/home": Page(links=["/2"]), "/2": Page()})]) as web:
        assert figures(in_rounds(web, tmp_path, 1, SEED)) == [(1, 3, 3, 1)]
        assert web.log.paths("a.test") == ["/robots.txt", "/", "/home"]


def test_sitemaps_are_read_in_their_round_and_their_pages_fetched_in_the_next(tmp_path: Path) -> None:
    listing = Page(body="<urlset><url><loc>http://a.test/x</loc></url></urlset>", content_type="application/xml")
    with TestWeb([Site("a.test", {"/s.xml": listing, "/x": Page()})]) as web:
        result = in_rounds(web, tmp_path, 3, sitemaps=[f"{SEED}s.xml"])
    assert figures(result) == [(1, 2, 2, 0), (2, 2, 0, 1)]
    assert result.failure is None


def test_a_page_that_fails_is_tried_again_within_its_round(tmp_path: Path) -> None:
    late = Page(handler=hostile.in_turn(Page(status=500), Page()))
    with TestWeb([Site("a.test", {"/": Page(links=["/late"]), "/late": late})]) as web:
        assert figures(in_rounds(web, tmp_path, 2, SEED)) == [(1, 2, 2, 1), (2, 2, 0, 1)]


def test_a_budget_counts_for_all_rounds_together(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 3, 4)]) as web:
        result = in_rounds(web, tmp_path, 9, SEED, budget=Budget(pages=6))
        assert len(web.log.fetched()) == 6
        assert figures(result) == [(1, 4, 4, 1), (2, 13, 9, 3), (3, 19, 6, 2)]
    assert (result.ending, result.summary["fetched"]) == (Ending.BUDGET, 6)
    assert result.summary["seconds"] == pytest.approx(sum(one["seconds"] for one in result.summary["rounds"]), abs=0.01)


def test_the_delay_is_kept_from_round_to_round(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 1, 3)]) as web:
        in_rounds(web, tmp_path, 9, SEED, politeness__delay=0.2)
        assert min(web.log.gaps("a.test")) >= 0.19


def test_a_queue_larger_than_the_memory_for_it_is_crawled_in_rounds_too(tmp_path: Path) -> None:
    pages = {"/": Page(links=[f"/{n}" for n in range(300)])} | {f"/{n}": Page(f"{n}") for n in range(300)}
    with TestWeb([Site("a.test", pages)]) as web:
        result = in_rounds(web, tmp_path, 5, SEED, store__buffer_urls=64, store__commit_pages=16)
    assert figures(result) == [(1, 301, 301, 1), (2, 301, 0, 300)]
    sound(tmp_path)


def test_rounds_and_an_entry_cannot_be_combined(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        crawl(Request(tmp_path / "home", settings_for(None), [SEED], entries=[SEED], rounds=2))
    assert not (tmp_path / "home").exists()


def test_the_summary_of_a_run_killed_in_a_later_round_includes_all_rounds(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 3, 3)]) as web:
        child = os.fork()
        if not child:
            fetched = Catalog.end_round
            rounds = iter((1, 2, 3))

            def end_round(catalog: Catalog, *more: Any) -> None:
                fetched(catalog, *more)
                if next(rounds) == 2:
                    os.kill(os.getpid(), signal.SIGKILL)

            with mock.patch.object(Catalog, "end_round", end_round):
                in_rounds(web, tmp_path, 3, SEED)
        os.waitpid(child, 0)
    with catalog_of(tmp_path) as catalog:
        run = catalog.last_run()
    assert run is not None
    assert run["outcome"] == "running"
    assert run["summary"]["fetched"] == 4
    assert [one["fetched"] for one in run["summary"]["rounds"]] == [1, 3]


def test_progress_adds_earlier_rounds_to_the_current_one(tmp_path: Path) -> None:
    with TestWeb([tree("a.test", 3, 3)]) as web:
        in_rounds(web, tmp_path, 1, SEED)
    with catalog_of(tmp_path) as catalog:
        run = catalog.last_run()
        assert run is not None
        summary, run_id = run["summary"], catalog.begin_run({})
        catalog.end_round(run_id, summary)
        catalog._database.run("set_worker_summary", run_id, 0, json.dumps(summary | {"rounds": None, "fetched": 10}))
        now = catalog.last_run()
    assert now is not None
    assert now["summary"]["fetched"] == 11
    assert now["summary"]["rounds"] == summary["rounds"]

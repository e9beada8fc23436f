"""Runs can be compared; a run that was killed is marked as killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from crawl.crawling import catalog_of, run_crawl
from periplus.crawl.assignment import Budget
from periplus.errors import UsageError
from periplus.inspector.runs import last_run, one_run, recent_runs, shares
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection, open_collection
from testweb import Page, Site, TestWeb

Answer = TypeVar("Answer")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pages = {"/": Page(links=["/1", "/2", "/gone"]), "/1": Page(), "/2": Page()}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", budget=Budget(pages=1))
        run_crawl(web, tmp_path)
    return tmp_path


def asked(home: Path, question: Callable[[Collection, Catalog], Answer]) -> Answer:
    with catalog_of(home) as catalog:
        return question(open_collection(home), catalog)


def runs(home: Path, limit: int = 9) -> list[dict[str, Any]]:
    return asked(home, lambda collection, catalog: recent_runs(collection, catalog, limit))


def test_the_newest_run_comes_first_with_what_can_be_compared(home: Path) -> None:
    newest, oldest = runs(home)
    assert [(run["run_id"], run["outcome"], run["fetched"], run["errors"]) for run in (newest, oldest)] == [
        (2, "done", 2, 1),
        (1, "budget", 1, 0),
    ]
    assert oldest["started"] < oldest["ended"] <= newest["started"]
    assert list(newest["timing"]) == list(newest["shares"])
    assert sum(newest["shares"].values()) == pytest.approx(1, abs=0.001)


def test_the_limit_is_respected(home: Path) -> None:
    assert [run["run_id"] for run in runs(home, limit=1)] == [2]


def test_a_run_without_an_end_was_killed_unless_the_collection_is_locked(home: Path) -> None:
    with catalog_of(home) as catalog:
        for _ in range(2):
            catalog.begin_run({})
    assert [(run["run_id"], run["outcome"]) for run in runs(home)[:2]] == [(4, "killed"), (3, "killed")]
    with open_collection(home).locked():
        assert [(run["run_id"], run["outcome"]) for run in runs(home)[:2]] == [(4, "running"), (3, "killed")]
        found = asked(home, last_run)
    assert found is not None
    assert (found["run_id"], found["outcome"]) == (4, "running")


def test_a_run_killed_before_it_wrote_anything_counts_as_nothing(home: Path) -> None:
    with catalog_of(home) as catalog:
        catalog.begin_run({})
    newest = runs(home)[0]
    assert (newest["fetched"], newest["seconds"], newest["errors"], newest["timing"], newest["shares"]) == (
        0, 0, 0, {}, {},
    )  # fmt: skip


def test_one_run_is_reported_in_full(home: Path) -> None:
    found = asked(home, lambda collection, catalog: one_run(collection, catalog, 2))
    assert (found["run_id"], found["outcome"], found["summary"]["errors"]) == (2, "done", {"http_404": 1})


def test_an_unknown_run_says_which_are_known(home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        asked(home, lambda collection, catalog: one_run(collection, catalog, 7))
    assert str(caught.value) == "there is no run 7: there are runs 1 to 2. `periplus runs` lists them."


def test_shares_of_no_time_at_all_are_nothing() -> None:
    assert shares({"idle": 0.0, "fetch": 0.0}) == {"idle": 0.0, "fetch": 0.0}
    assert shares({"idle": 1.0, "fetch": 3.0}) == {"idle": 0.25, "fetch": 0.75}

"""`periplus runs` lists crawls; `periplus status --run` shows one."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import catalog_of, reach, typed
from testweb import TestWeb, mesh


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("crawled") / "home"
    with TestWeb([mesh("a.test", 9)]) as web:
        for pages in (2, 3):
            assert typed("crawl", "http://a.test/", "--home", home, "--pages", str(pages), *reach(web)).code == 0
    return home


def test_people_get_a_table_newest_first(home: Path) -> None:
    outcome = typed("runs", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    headings, *rows = outcome.out.splitlines()
    assert headings.split()[:7] == ["run", "started", "outcome", "pages", "pages/s", "seconds", "errors"]
    steps = ("idle", "robots", "delay", "connect", "fetch", "parse", "store")
    assert headings.rstrip().endswith("  ".join(f"{step} %" for step in steps))
    assert [row.split()[0] for row in rows] == ["2", "1"]
    assert [row.split()[3:5] for row in rows] == [["budget", "3"], ["budget", "2"]]


def test_programs_get_an_object(home: Path) -> None:
    found = typed("runs", "--home", home, "--json").json["runs"]
    assert [list(run) for run in found] == [
        [
            "run_id", "started", "ended", "outcome", "fetched", "bytes", "seconds", "pages_per_second", "errors",
            "refused", "timing", "shares",
        ]
    ] * 2  # fmt: skip
    assert [run["fetched"] for run in found] == [3, 2]
    assert len(typed("runs", "--home", home, "--json", "--size", "1").json["runs"]) == 1


def test_a_run_killed_at_once_has_a_row_too(home: Path, tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 2)]) as web:
        typed("crawl", "http://a.test/", "--home", tmp_path, "--seconds", "0", *reach(web))
    with catalog_of(tmp_path) as catalog:
        catalog.begin_run({})
    row = typed("runs", "--home", tmp_path).out.splitlines()[1].split()
    assert (row[0], row[3], row[-1]) == ("2", "killed", "-")


def test_status_shows_one_run_in_full(home: Path) -> None:
    found = typed("status", "--home", home, "--run", "2", "--json").json
    assert list(found) == ["run_id", "started", "ended", "outcome", "arguments", "summary"]
    assert (found["arguments"]["pages"], found["summary"]["fetched"]) == (3, 3)
    outcome = typed("status", "--home", home, "--run", "2")
    rows = {line[:14].strip(): line[14:].strip() for line in outcome.out.splitlines()}
    assert rows["run"] == "2 (budget)"
    assert rows["option seeds"] == "http://a.test/"
    assert rows["option flags"].startswith("fetch.connect_to = ")
    assert rows["option pages"] == "3"
    assert rows["fetched"].startswith("3 pages, ")
    assert rows["in fetch"].endswith(" %")


def test_an_unknown_run_is_one_line(home: Path) -> None:
    outcome = typed("status", "--home", home, "--run", "99")
    assert outcome.code == 2
    assert outcome.complaint == "periplus: there is no run 99: there are runs 1 to 2. `periplus runs` lists them."


def test_without_a_collection_there_are_no_runs(tmp_path: Path) -> None:
    outcome = typed("runs", "--home", tmp_path / "none")
    assert outcome.code == 1
    assert "holds no collection" in outcome.complaint

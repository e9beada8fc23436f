"""Pruning shrinks the archive; what stays can be read, and all files agree."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import (
    catalog_of,
    environment,
    reach,
    run_crawl,
    segment_rows,
    settings_for,
    sound,
    start,
    typed,
    wait,
)
from killing import Countdown, in_a_fork
from periplus.config import Storage
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.versions import version_body
from periplus.repair import repair
from periplus.retention import Pruned, prune
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, mesh

SEED = "http://a.test/"
VERSIONS = 4
ONE = Storage(keep_versions=1)
KILLS = 8


def text(version: int) -> str:
    return f"Version number{version} of this page. " * 20


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with four versions, each seen twice, and pages that never change; several archive files, an index."""
    home = tmp_path_factory.mktemp("versions") / "home"
    with TestWeb(
        [Site("a.test", {"/": Page("Home"), "/b": Page("Still", text(0)), "/away": Page(redirect="/b")})]
    ) as web:
        for version in range(VERSIONS):
            web.site("a.test").pages["/"] = Page(f"Home {version}", text(version), links=["/b", "/away"])
            for _ in range(2):
                run_crawl(web, home, SEED, f"{SEED}b", f"{SEED}away", store__archive_bytes=3_000)
    assert typed("rank", "--home", home).code == 0
    assert typed("index", "--home", home).code == 0
    return home


@pytest.fixture
def home(crawled: Path, tmp_path: Path) -> Path:
    shutil.copytree(crawled, tmp_path / "home")
    return tmp_path / "home"


def size(home: Path) -> int:
    return sum(path.stat().st_size for path in (home / "archive").iterdir())


def pruned(home: Path, settings: Storage = ONE, **options: Any) -> Pruned:
    return prune(open_collection(home), settings, is_alone=True, **options)


def versions(home: Path, url: str = SEED) -> list[bytes]:
    with catalog_of(home) as catalog:
        count = sum(fetch.is_version for fetch in catalog.fetches_of(url))
        return [version_body(open_collection(home), catalog, url, number) for number in range(1, count + 1)]


def test_only_the_newest_version_stays_and_the_archive_shrinks(home: Path) -> None:
    before, size_before = versions(home), size(home)
    result = pruned(home)
    assert len(before) == VERSIONS
    assert versions(home) == before[-1:]
    assert versions(home, f"{SEED}b") != []
    assert size(home) == result.bytes_after < size_before == result.bytes_before
    assert result.versions >= 2 * (VERSIONS - 1)
    assert {row["url"] for row in segment_rows(home, "pages")} == {SEED, f"{SEED}b"}
    sound(home)


def test_a_second_run_has_nothing_to_do(home: Path) -> None:
    pruned(home)
    files = sorted(path.name for path in (home / "archive").iterdir())
    assert pruned(home).files == 0
    assert sorted(path.name for path in (home / "archive").iterdir()) == files


def test_a_dry_run_changes_nothing(home: Path) -> None:
    expected, result = size(home), pruned(home, dry_run=True)
    assert (result.versions > 0, size(home), len(versions(home))) == (True, expected, VERSIONS)
    assert pruned(home).versions == result.versions


def test_two_versions_stay_when_two_are_wanted(home: Path) -> None:
    before = versions(home)
    pruned(home, Storage(keep_versions=2))
    assert versions(home) == before[-2:]
    sound(home)


def test_old_versions_go_by_their_age(home: Path) -> None:
    before = versions(home)
    assert pruned(home, Storage(keep_days=1)).versions == 0
    with closing(sqlite3.connect(home / "crawl.db")) as database, database:
        database.execute(
            "UPDATE fetches SET at = at - 10 * 86400 WHERE fetch_id < (SELECT max(fetch_id) - 8 FROM fetches)"
        )
    pruned(home, Storage(keep_days=5))
    assert before[-1] in versions(home)
    assert len(versions(home)) < VERSIONS


def test_files_that_a_crawl_appends_to_are_left_alone(home: Path) -> None:
    last = max((home / "archive").iterdir())
    content = last.read_bytes()
    result = prune(open_collection(home), ONE)
    assert last.read_bytes() == content
    assert result.files > 0
    sound(home)


def test_a_file_with_little_to_remove_waits(home: Path) -> None:
    result = pruned(home, least_share=1.0)
    assert (result.files, result.waiting > 0) == (0, True)


def test_a_site_that_has_the_old_positions_still_shows_pages(home: Path) -> None:
    settings = settings_for(None)
    with closing(ReloadingEngine(open_collection(home), settings)) as engine:
        library = PageLibrary(open_collection(home), settings, engine.live)
        shown = engine.cached(f"{SEED}b")
        pruned(home)
        assert shown is not None
        assert engine.cached(f"{SEED}b") == shown
        assert library.text(f"{SEED}b") is not None
        versions = library.versions(SEED)
        assert len(versions) == 1
        newest = library.version(SEED, versions[0].at)
        assert newest is not None
        assert b"number3" in newest.body


def test_the_next_crawl_and_index_continue(home: Path) -> None:
    pruned(home)
    with TestWeb([Site("a.test", {"/": Page("New", text(9), links=["/b"]), "/b": Page("Still", text(0))})]) as web:
        run_crawl(web, home, SEED, store__archive_bytes=3_000)
    assert typed("index", "--home", home).code == 0
    assert len(versions(home)) == 2
    assert pruned(home).files > 0
    assert len(versions(home)) == 1
    sound(home)


@pytest.mark.slow
def test_a_lost_catalog_is_rebuilt_from_a_pruned_archive(home: Path) -> None:
    before = versions(home)[-1:]
    pruned(home)
    pruned_names = sorted(path.name for path in (home / "archive").iterdir())
    assert any("-r1" in name for name in pruned_names)
    (home / "crawl.db").unlink()
    assert repair(home, settings_for(None)).left == []
    assert sorted(path.name for path in (home / "archive").iterdir()) == pruned_names
    assert versions(home) == before
    sound(home)


@pytest.mark.slow
def test_an_older_catalog_is_mended_with_the_pruned_archive(home: Path, tmp_path: Path) -> None:
    shutil.copyfile(home / "crawl.db", tmp_path / "older.db")
    before = versions(home)[-1:]
    pruned(home)
    shutil.copyfile(tmp_path / "older.db", home / "crawl.db")
    assert repair(home, settings_for(None)).left == []
    assert versions(home) == before
    sound(home)


def test_the_command_needs_a_limit(home: Path) -> None:
    outcome = typed("prune", "--home", home)
    assert (outcome.code, "store.keep_versions" in outcome.complaint) == (2, True)


def test_the_command_says_what_it_removed(home: Path) -> None:
    (home / "periplus.toml").write_text("[store]\nkeep_versions = 1\n")
    assert "would be removed" in typed("prune", "--dry-run", "--home", home).out
    with open_collection(home).locked():  # as if a crawl were running
        found = typed("prune", "--json", "--home", home).json
    assert found["bytes_after"] < found["bytes_before"]
    assert typed("prune", "--json", "--home", home).json["versions"] == found["waiting"]


def counted(home: Path, calls: int = 1 << 60) -> int:
    countdown = Countdown(calls, prune.__code__)
    import sys

    sys.setprofile(countdown)
    pruned(home)
    sys.setprofile(None)
    return countdown.made


@pytest.mark.slow
def test_a_killed_run_leaves_the_old_or_the_new_state_and_the_next_one_finishes(home: Path, tmp_path: Path) -> None:
    expected = versions(home)[-1:]
    shutil.copytree(home, tmp_path / "measured")
    _, calls = in_a_fork(lambda: counted(tmp_path / "measured"))
    for number in range(KILLS):
        copy = tmp_path / f"killed-{number}"
        shutil.copytree(home, copy)
        ended, _ = in_a_fork(lambda at=1 + calls * number // KILLS: counted(copy, at))  # type: ignore[misc]  # noqa: B023
        assert ended
        sound(copy)
        pruned(copy)
        sound(copy)
        assert versions(copy) == expected
        assert sorted((path.name, path.stat().st_size) for path in (copy / "archive").iterdir()) == sorted(
            (path.name, path.stat().st_size) for path in (tmp_path / "measured" / "archive").iterdir()
        )
        assert not list((copy / "archive").glob("*.tmp"))


@pytest.mark.slow
def test_a_crawl_goes_on_while_the_archive_is_pruned(home: Path) -> None:
    collection, runs = open_collection(home), 0
    settings = environment(store__archive_bytes=3_000, store__commit_pages=4)
    with TestWeb(
        [Site("a.test", {"/": Page("Home 9", text(9), links=["/b"]), "/b": Page("B")}), mesh("b.test", 200)]
    ) as web:
        child = start("crawl", SEED, "http://b.test/", "--home", home, *reach(web), env=settings)
        while child.poll() is None:
            prune(collection, ONE)
            runs += 1
        assert wait(child).code == 0
    assert runs > 1
    sound(home)
    pruned(home)
    assert [b"number9" in body for body in versions(home)] == [True]
    sound(home)

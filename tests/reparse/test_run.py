"""Does reparse keep every page once and in order?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, environment, run_crawl, segment_rows, settings_for, sound, typed
from index.damage import flip, zero_table
from parse.pdfs import pdf
from periplus.errors import CollectionLocked, DamagedFile
from periplus.reparse import reparse, run
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, many_hosts

MAIN = "The harbour master keeps the tide tables, and nobody sails before he has read them out. " * 8
MENU = '<nav><a href="/a">Home</a> <a href="/b">Charts</a> <a href="/c">Pilots</a></nav>'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    pages = {
        "/": Page("Harbour", MAIN, html=MENU, lang="en", links=["/paper"]),
        "/paper": Page(body=pdf("Soundings"), content_type="application/pdf"),
    }
    with TestWeb([Site("a.test", pages), *many_hosts(3, 20)]) as web:
        run_crawl(
            web, tmp_path, "http://a.test/", "http://h0001.test/", scope__hosts=[".*"], store__segment_seconds=0.05
        )
    return tmp_path


def again(home: Path, *, everything: bool = False) -> Any:
    return reparse(open_collection(home), settings_for(None), everything=everything)


def identities(home: Path, kind: str) -> list[tuple[Any, ...]]:
    columns = (
        ("url", "content_id", "archive", "offset", "title") if kind == "pages" else ("source_id", "target", "anchor")
    )
    return [tuple(row[column] for column in columns) for row in segment_rows(home, kind)]


def test_no_process_removes_segments_while_they_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection, seen = open_collection(home), []

    def is_unused() -> bool:
        with collection.without_segment_readers() as unused:
            return unused

    monkeypatch.setattr(run, "bring_segments", lambda *_: seen.append(is_unused()))
    reparse(
        collection, settings_for(None), everything=False, on_progress=lambda _done, _total: seen.append(is_unused())
    )
    assert len(seen) > 1
    assert not any(seen)
    assert is_unused()


def test_a_reparse_adds_what_the_quick_parse_leaves_out(home: Path) -> None:
    before = {row["url"]: row for row in segment_rows(home, "pages")}
    assert "main" not in before["http://a.test/"]
    assert again(home).pages == len(before)
    page = {row["url"]: row for row in segment_rows(home, "pages")}["http://a.test/"]
    main = "".join(page["text"][start:end] for start, end in zip(page["main"][::2], page["main"][1::2], strict=True))
    assert "tide tables" in main
    assert "Pilots" not in main
    assert (page["language"], page["signature"] != 0) == ("en", True)
    sound(home)


def test_rows_keep_their_order_and_fetch(home: Path) -> None:
    before = {kind: identities(home, kind) for kind in ("pages", "links")}
    for everything in (False, True):
        again(home, everything=everything)
        assert {kind: identities(home, kind) for kind in ("pages", "links")} == before
    sound(home)


def test_fully_parsed_pages_are_parsed_again_only_with_everything(home: Path) -> None:
    total = again(home).pages
    assert again(home).pages == 0
    assert again(home, everything=True).pages == total


def test_replaced_files_are_removed_by_the_next_run(home: Path) -> None:
    before = set((home / "segments").iterdir())
    again(home)
    assert before < set((home / "segments").iterdir()), "another process may still read the old files"
    (home / "segments" / "pages-w00-000001-r9.parquet.again").write_bytes(b"half")
    again(home)
    with catalog_of(home) as catalog:
        listed = {segment.name for segment in catalog.segments()}
    assert {path.name for path in (home / "segments").iterdir()} == listed


@pytest.mark.parametrize("kind", ["pages", "links"])
def test_the_intact_file_before_a_damaged_one_is_kept(home: Path, kind: str) -> None:
    again(home)
    before, live = (home / "segments" / f"{kind}-w00-000001{revision}.parquet" for revision in ("", "-r1"))
    flip(live, 0.01)  # in the data; the run would read and report a file with a damaged footer
    outcome = typed("reparse", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")  # it reads no file that is complete
    assert before.exists()
    others = {path.name for path in (home / "segments").iterdir()} - {before.name, live.name}
    assert not any(name == f"{kind}-w00-000002.parquet" for name in others), "the others are removed as ever"


def test_two_reparse_runs_exclude_each_other(home: Path) -> None:
    with open_collection(home).locked("reparse"), pytest.raises(CollectionLocked):
        again(home)


def test_a_damaged_catalog_is_noticed_before_anything_is_written(home: Path) -> None:
    zero_table(home / "crawl.db", "refusals")
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with pytest.raises(DamagedFile, match=r"crawl\.db is damaged: .*Run `periplus repair`\."):
        again(home)
    assert {path: path.read_bytes() for path in before} == before
    assert not list(home.rglob("*-r1.parquet"))


@pytest.mark.slow
def test_a_run_killed_at_any_moment_can_be_continued(home: Path) -> None:
    expected = identities(home, "pages")
    for milliseconds in (300, 450, 600, 750, 900):
        command = [sys.executable, "-m", "periplus", "reparse", "--everything", "--home", str(home)]
        child = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        assert identities(home, "pages") == expected
        sound(home)
    again(home)
    assert identities(home, "pages") == expected

"""`periplus index` makes crawled pages searchable and prints a summary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crawl.crawling import periplus
from index.damage import cut
from index.live import live_index
from periplus.cli.commands.index import app
from search.library import Doc, shelve

PAGES = [Doc(f"http://a.test/{n}", f"Page {n}", "reef", body=str(n // 2).encode()) for n in range(6)]


def test_it_tells_what_it_made_as_json(tmp_path: Path) -> None:
    collection = shelve(tmp_path, PAGES)
    result = CliRunner().invoke(app, ["--home", str(tmp_path), "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    keys = {"documents", "duplicates", "generation", "seconds", "bytes", "left_out", "unread", "failed_extractors"}
    assert set(found) == keys | {"build", "why", "added", "removed", "kept", "shards"}
    assert (found["build"], found["why"], found["added"]) == ("full", "there was no index", 3)
    assert (found["documents"], found["duplicates"], found["generation"]) == (3, 3, 1)
    assert found["seconds"] > 0
    assert found["bytes"] > 1_000
    assert live_index(collection).name == "gen-000001"


def test_people_get_a_table(tmp_path: Path) -> None:
    shelve(tmp_path, PAGES)
    result = CliRunner().invoke(app, ["--home", str(tmp_path)])
    assert result.exit_code == 0
    lines = [line.rstrip().split(maxsplit=1) for line in result.stdout.splitlines()]
    assert lines[:2] == [["build", "full (there was no index)"], ["documents", "3 (3 duplicates merged)"]]
    assert [name for name, _ in lines] == ["build", "documents", "left", "generation", "time", "size", "next"]


def built(home: Path, *options: str) -> list[str]:
    """The first line of the summary, and the generation."""
    result = CliRunner().invoke(app, ["--home", str(home), *options])
    assert result.exit_code == 0
    lines = dict(line.rstrip().split(maxsplit=1) for line in result.stdout.splitlines())
    return [lines["build"], lines["generation"]]


def test_a_second_run_updates_the_index_and_says_what_it_did(tmp_path: Path) -> None:
    shelve(tmp_path, PAGES)
    assert built(tmp_path) == ["full (there was no index)", "1"]
    assert built(tmp_path) == ["nothing has changed", "1"]
    shelve(tmp_path, [Doc("http://a.test/9", "Page 9", "reef")])
    assert built(tmp_path) == ["update (1 added, 0 removed, 3 kept)", "2"]
    assert built(tmp_path, "--full") == ["full (--full was given)", "3"]


def test_a_rollback_builds_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["--home", str(tmp_path), "--rollback", "--full"])
    assert result.exit_code != 0
    assert "exclude each other" in str(result.exception)


@pytest.mark.slow
def test_what_is_wrong_is_one_line(tmp_path: Path) -> None:
    nothing = periplus("index", "--home", tmp_path)
    assert nothing.code == 1
    assert "holds no collection" in nothing.complaint
    collection = shelve(tmp_path / "c", PAGES)
    (segment,) = collection.segments.glob("pages-*")
    cut(segment)
    damaged = periplus("index", "--home", tmp_path / "c")
    assert damaged.code == 1
    assert f"{segment} is damaged: " in damaged.complaint
    assert damaged.out == ""

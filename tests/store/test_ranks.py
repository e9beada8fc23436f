"""Whoever asks for ranks gets those of the live generation, or is told what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graph.webs import Told, Web, web
from periplus.errors import DamagedFile, NewerFormat
from periplus.store.ranks import RankTable, damage, open_ranks
from periplus.url import url_id
from store.records import told

A, B = "https://a.org/", "https://b.org/"
FILES = ["anchors.parquet", "crawled.npy", "degrees.npy", "hosts.parquet", "ids.npy", "indptr.npy", "nodes.arrow"]
FILES += ["numbers.npy", "ranks.npy", "sources.npy"]


@pytest.fixture
def ranked(tmp_path: Path) -> Web:
    crawled = web(tmp_path, Told(A, [(B, "b"), "https://c.org/"]), Told(B, ["https://c.org/"]))
    crawled.rank()
    return crawled


def live(crawled: Web) -> RankTable:
    table = open_ranks(crawled.collection.ranks)
    assert table is not None
    return table


def test_there_are_no_ranks_before_the_first_ranking(tmp_path: Path) -> None:
    assert open_ranks(tmp_path) is None
    assert list(damage(tmp_path)) == []


def test_ranks_are_looked_up_by_identity_many_at_once(ranked: Web) -> None:
    table = live(ranked)
    identities = np.array([url_id(B), b"\0" * 16, url_id(A), b"\xff" * 16, url_id(B)], "S16")
    found = table.of(identities)
    assert found.dtype == np.float32
    assert found[0] == found[4] > found[2]
    assert found[1] == found[3] == np.float32(table.figures.floor)
    assert table.nodes_of(identities)[[1, 3]].tolist() == [-1, -1]
    assert len(table.of(np.empty(0, "S16"))) == 0


def test_ranks_of_hosts_are_looked_up_by_name(ranked: Web) -> None:
    table = live(ranked)
    known, unknown = table.of_hosts(["c.org", "never.met"])
    assert known > unknown == np.float32(table.figures.host_floor)


def test_nothing_wrong_is_found_with_ranks_that_are_sound(ranked: Web) -> None:
    assert list(damage(ranked.collection.ranks)) == []
    assert sorted(path.name for path in live(ranked).folder.iterdir()) == sorted([*FILES, "meta.json"])


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_and_its_file_named(ranked: Web, name: str) -> None:
    path = live(ranked).folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert list(damage(ranked.collection.ranks)) == [(f"gen-1/{name}", "its content is not what was written")]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_or_missing_is_told_when_the_ranks_are_opened(ranked: Web, name: str) -> None:
    path = live(ranked).folder / name
    path.write_bytes(path.read_bytes()[:-1])
    line = told(DamagedFile, lambda: open_ranks(ranked.collection.ranks))
    assert name in line
    assert "`periplus rank` makes new ranks" in line
    path.unlink()
    assert f"{name} is missing" in told(DamagedFile, lambda: open_ranks(ranked.collection.ranks))
    ((where, what),) = damage(ranked.collection.ranks)
    assert (where, name in what) == ("CURRENT", True)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b'{"files": {}}'])
def test_a_damaged_description_is_told(ranked: Web, content: bytes) -> None:
    (live(ranked).folder / "meta.json").write_bytes(content)
    assert "gen-1 is damaged" in told(DamagedFile, lambda: open_ranks(ranked.collection.ranks))


@pytest.mark.parametrize("content", ["", "gen-", "../../elsewhere", "gen-1\0", "häfen"])
def test_a_pointer_that_names_no_generation_is_told(ranked: Web, content: str) -> None:
    (ranked.collection.ranks / "CURRENT").write_text(content, encoding="utf-8")
    assert "CURRENT is damaged" in told(DamagedFile, lambda: open_ranks(ranked.collection.ranks))


def test_ranks_of_a_later_release_are_refused(ranked: Web) -> None:
    path = live(ranked).folder / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 2}))
    assert "knows formats up to 1" in told(NewerFormat, lambda: open_ranks(ranked.collection.ranks))


def test_a_new_ranking_repairs_what_is_damaged(ranked: Web) -> None:
    (live(ranked).folder / "ranks.npy").unlink()
    assert ranked.rank().summary.generation == 2
    assert list(damage(ranked.collection.ranks)) == []

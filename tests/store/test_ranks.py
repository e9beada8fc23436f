"""Ranks are read from the live generation, or its damage is reported."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from graph.webs import CrawledPage, Web, web
from index.damage import WAYS, flip
from periplus.errors import DamagedFile
from periplus.graph.explain import explain, top_hosts, top_pages
from periplus.store.generations import RANK_KIND, Generations
from periplus.store.ranks import RankTable, open_ranks
from periplus.url import url_id
from store.records import error_line

A, B = "https://a.org/", "https://b.org/"
FILES = ["anchors.parquet", "crawled.npy", "degrees.npy", "hosts.parquet", "ids.npy", "indptr.npy", "nodes.arrow"]
FILES += ["numbers.npy", "ranks.npy", "sources.npy"]


@pytest.fixture
def ranked(tmp_path: Path) -> Web:
    crawled = web(tmp_path, CrawledPage(A, [(B, "b"), "https://c.org/"]), CrawledPage(B, ["https://c.org/"]))
    crawled.rank()
    return crawled


def live(crawled: Web) -> RankTable:
    table = open_ranks(crawled.collection.ranks)
    assert table is not None
    return table


def test_there_are_no_ranks_before_the_first_ranking(tmp_path: Path) -> None:
    assert open_ranks(tmp_path) is None


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
    assert list(Generations(ranked.collection.ranks, RANK_KIND).damage()) == []
    assert sorted(path.name for path in live(ranked).folder.iterdir()) == sorted([*FILES, "meta.json"])


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_and_its_file_named(ranked: Web, name: str) -> None:
    flip(live(ranked).folder / name)
    assert list(Generations(ranked.collection.ranks, RANK_KIND).damage()) == [
        (f"gen-1/{name}", "its content does not match its checksum")
    ]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("way", ["deleted", "emptied", "cut in half"])
def test_a_file_that_is_cut_or_missing_is_reported_when_the_ranks_are_opened(ranked: Web, name: str, way: str) -> None:
    WAYS[way](live(ranked).folder / name)
    line = error_line(DamagedFile, lambda: open_ranks(ranked.collection.ranks))
    assert f"gen-1/{name} is damaged" in line
    assert "Run `periplus repair`." in line


def asked(table: RankTable) -> list[object]:
    """Every read access."""
    ids = np.array([url_id(A), url_id(B)], "S16")
    answers: list[object] = [explain(table, url_id(url)) for url in (A, B)]
    return [*answers, *top_pages(table, 9), *top_hosts(table, 9), table.of(ids).tolist()]


@pytest.mark.parametrize("name", FILES)
def test_damage_that_keeps_the_size_ends_in_an_answer_or_in_one_line(ranked: Web, name: str) -> None:
    path = live(ranked).folder / name
    sound = path.read_bytes()
    damages = [bytes(len(sound))]
    for place in range(0, len(sound), max(len(sound) // 60, 1)):
        damages.append(sound[:place] + bytes([sound[place] ^ (1 << place % 8)]) + sound[place + 1 :])
    for content in damages:
        path.write_bytes(content)
        with suppress(DamagedFile):
            asked(live(ranked))
    path.write_bytes(sound)
    assert asked(live(ranked))


@pytest.mark.long
def test_two_thousand_flipped_bits_are_named_and_end_in_an_answer_or_in_one_line(ranked: Web) -> None:
    chance, folder = Random(11), live(ranked).folder
    for number in range(2_000):
        path = folder / [*FILES, "meta.json"][number % (len(FILES) + 1)]
        sound = path.read_bytes()
        flip(path, chance.random(), 1 << chance.randrange(8))
        assert [where for where, _ in Generations(ranked.collection.ranks, RANK_KIND).damage()] == [
            f"gen-1/{path.name}"
        ]
        with suppress(DamagedFile):
            asked(live(ranked))
        path.write_bytes(sound)


def test_a_new_ranking_repairs_what_is_damaged(ranked: Web) -> None:
    (live(ranked).folder / "ranks.npy").unlink()
    assert ranked.rank().summary.generation == 2
    assert list(Generations(ranked.collection.ranks, RANK_KIND).damage()) == []

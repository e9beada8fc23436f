"""A generation may hold its documents in shards."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from index.live import live_index
from periplus.errors import DamagedFile
from periplus.index.forward.forward_index import FIELDS, ForwardIndex
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.shards import NUMBERS, ShardNumbers, files_for_shards, shard_folder, shard_folders, shard_of
from periplus.inspector.generation_list import list_generations
from periplus.store.arrays import write_array
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generation, Generations
from periplus.url import url_id
from search.library import Doc, give_ranks, index, opened, shelve

WORDS = ["harbour", "lighthouse", "reef", "anchor", "keel", "mast", "sail", "rope", "tide", "wave", "storm", "pilot"]
DOCS = [
    Doc(f"http://h{number % 3}.test/{number}", f"{WORDS[number % 12]} {number}", " ".join(WORDS[: 3 + number % 9]))
    for number in range(30)
]


def filled(home: Path, docs: Iterable[Doc] = DOCS) -> Collection:
    collection = shelve(home, docs)
    give_ranks(collection, {doc.url: 1.0 + place for place, doc in enumerate(DOCS)})
    return collection


def files(generation: Path, *, of_shards: bool) -> dict[str, bytes]:
    found = (
        path for path in generation.rglob("*") if path.is_file() and path.name not in {"meta.json", "forward.json"}
    )
    names = {str(path.relative_to(generation)): path for path in found if path.suffix != ".lock"}
    chosen = set(files_for_shards((), names))
    return {name: path.read_bytes() for name, path in names.items() if (name in chosen) is not of_shards}


def test_every_document_is_in_the_shard_of_its_url_and_common_files_are_those_of_one_index(tmp_path: Path) -> None:
    one, divided = filled(tmp_path / "one"), filled(tmp_path / "divided")
    index(one)
    summary = index(divided, shards=3)
    assert (summary.shards, summary.documents) == (3, 30)
    generation = live_index(divided)
    assert len(shard_folders(generation)) == 3
    for shard, folder in enumerate(shard_folders(generation)):
        with PageStore(folder) as pages:
            found = [pages.head(number).url for number in range(len(pages))]
        assert found
        assert {shard_of(url_id(url), 3) for url in found} == {shard}
    whole, common = files(live_index(one), of_shards=False), files(generation, of_shards=False)
    own = {name for name in whole if name.split("/")[0] in {"tantivy", "media", "parts"}} | {
        name for name in whole if "/" not in name and name.split(".")[0] in {"heads", "texts", "details", "ranks"}
    }
    same = whole.keys() & common.keys() - {"documents.parquet"}
    assert {"forward/words.npy", "vectors/vectors.npy", "phrases/texts.npy", "vocabulary/letters.npy"} <= same
    assert not own & common.keys()
    assert {name for name in same if whole[name] != common[name]} == set()


def test_the_shards_together_are_read_like_one_index(tmp_path: Path) -> None:
    one, divided = filled(tmp_path / "one"), filled(tmp_path / "divided")
    index(one)
    index(divided, shards=4)
    plain, joined = (ForwardIndex(live_index(collection)) for collection in (one, divided))
    numbers = np.random.default_rng(1).permutation(30)
    for name in FIELDS:
        assert plain.read(numbers, name).words.tolist() == joined.read(numbers, name).words.tolist()
        assert plain.lengths(numbers, name).tolist() == joined.lengths(numbers, name).tolist()
        assert plain.mean_length(name) == joined.mean_length(name)
    with PageStore(live_index(one)) as pages, PageStore(live_index(divided)) as others:
        assert len(pages) == len(others) == 30
        assert all(pages.head(number) == others.head(number) for number in range(30))
        assert all(pages.text(number) == others.text(number) for number in range(30))
        assert others.has_all_columns


def test_an_index_with_shards_is_built_in_full_or_not_at_all(tmp_path: Path) -> None:
    collection = filled(tmp_path)
    index(collection)
    assert index(collection, shards=2).why == "index.shards has changed"
    assert index(collection, shards=2).build == "none"
    shelve(tmp_path, [Doc("http://new.test/", "New", "A new page about the harbour.")])
    added = index(collection, shards=2)
    assert (added.build, added.why) == ("full", "an index with shards is always built in full")
    with opened(collection) as engine:
        assert engine.search("new").total == 1
    assert index(collection).why == "index.shards has changed"
    found = list_generations(collection)
    assert [(one.shards, one.format) for one in found if one.kind == "index"] == [(1, 5), (2, 6), (2, 6)]


def test_more_shards_than_documents_are_searched(tmp_path: Path) -> None:
    collection = filled(tmp_path, DOCS[:2])
    index(collection, shards=5)
    with opened(collection) as engine:
        assert engine.search("harbour").total == 2
        assert engine.facets("harbour").languages == (("en", 2),)


def test_damage_of_a_shard_is_noticed(tmp_path: Path) -> None:
    collection = filled(tmp_path)
    index(collection, shards=2)
    generations, live = Generations(collection.index, INDEX_KIND), live_index(collection)
    assert list(generations.damage()) == []
    path = shard_folder(live, 1) / "heads.dat"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert [name for name, _ in generations.damage()] == [f"{live.name}/shard-1/heads.dat"]
    opened_generation = Generation(live, INDEX_KIND)
    opened_generation.keep_only(files_for_shards([0], opened_generation.files))
    opened_generation.require_intact()  # a node with the other shard is not concerned
    opened_generation.close()


def test_shards_that_lack_documents_are_refused(tmp_path: Path) -> None:
    for shard, numbers in enumerate(([0, 2], [1, 5])):
        shard_folder(tmp_path, shard).mkdir()
        write_array(shard_folder(tmp_path, shard) / NUMBERS, np.array(numbers, np.uint32))
    with pytest.raises(DamagedFile, match="lack documents"):
        ShardNumbers(shard_folders(tmp_path))


def test_a_node_needs_the_common_files_and_those_of_its_shards() -> None:
    names = ["forward/words.npy", "near.parquet", "shard-0/heads.dat", "shard-1/heads.dat", "shard-10/heads.dat"]
    assert files_for_shards([1], names) == ["forward/words.npy", "near.parquet", "shard-1/heads.dat"]
    assert files_for_shards([], names) == ["forward/words.npy", "near.parquet"]

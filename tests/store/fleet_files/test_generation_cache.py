from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from xxhash import xxh3_128_hexdigest

from graph.webs import CrawledPage, web
from periplus.errors import CollectionLocked, DamagedFile, Interrupted, NewerFormat, ObjectMissing, StorageUnavailable
from periplus.index.storage.shards import files_for_shards
from periplus.search.engine import SearchEngine
from periplus.store.checksums import verified, with_checksums
from periplus.store.collection import create_collection
from periplus.store.fleet_files.generation_cache import GenerationCache
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.generations import INDEX_KIND, RANK_KIND, Generation, Generations
from periplus.store.ranks import open_ranks
from search.library import Doc, index, settings, shelve, urls
from store.fleet_files.fleet_files import PLENTY, CountingStore, bring, publish, published_in

FILES = {"heads.dat": b"heads" * 100, "tantivy/meta.json": b"{}", "tantivy/abc.idx": bytes(range(256))}


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path / "objects")


def live(folder: Path) -> str | None:
    found = Generations(folder, INDEX_KIND).live()
    return found.name if found else None


def contents(generation: Path) -> dict[str, bytes]:
    paths = [path for path in generation.rglob("*") if path.is_file()]
    return {str(path.relative_to(generation)): path.read_bytes() for path in paths}


def test_a_generation_arrives_as_it_was_built(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    brought = bring(store, tmp_path / "node")
    assert contents(brought) == contents(tmp_path / "index" / "gen-000001")
    assert live(tmp_path / "node") == "gen-000001"
    assert not list((tmp_path / "node").glob("*.tmp"))


def test_a_file_that_is_here_already_is_linked(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    first = bring(store, tmp_path / "node")
    publish(store, tmp_path / "index", FILES | {"heads.dat": b"other heads"})
    store.downloaded.clear()
    second = bring(store, tmp_path / "node")
    assert len(store.downloaded) == 1
    assert (second / "tantivy/abc.idx").samefile(first / "tantivy/abc.idx")


def test_a_truncated_local_file_is_not_linked(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    (bring(store, tmp_path / "node") / "heads.dat").write_bytes(b"")
    publish(store, tmp_path / "index", FILES | {"a": b"a"})
    assert contents(bring(store, tmp_path / "node"))["heads.dat"] == FILES["heads.dat"]


def test_what_is_live_already_costs_nothing(store: CountingStore, tmp_path: Path) -> None:
    current = publish(store, tmp_path / "index", FILES)
    cache = GenerationCache(tmp_path / "node", published_in(store), PLENTY)
    assert not cache.is_live(current)
    cache.bring(current)
    assert cache.is_live(current)
    store.downloaded.clear()
    cache.bring(current)
    assert not store.downloaded


def test_a_changed_object_is_found_and_the_earlier_generation_stays_live(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    bring(store, tmp_path / "node")
    publish(store, tmp_path / "index", FILES | {"a": b"right"})
    for path in (tmp_path / "objects").rglob("*"):
        if path.is_file() and path.read_bytes() == b"right":
            path.write_bytes(b"wrong")
    with pytest.raises(DamagedFile, match=r"index/files/.* is damaged: its content does not match"):
        bring(store, tmp_path / "node")
    assert live(tmp_path / "node") == "gen-000001"


def test_a_missing_object_is_found(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    store.delete([next(store.list("index/files")).name])
    with pytest.raises(ObjectMissing):
        bring(store, tmp_path / "node")
    assert live(tmp_path / "node") is None


def test_complete_files_of_a_download_that_was_killed_are_used(
    store: CountingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, tmp_path / "index", FILES)
    get_file = CountingStore.get_file

    def failing(self: CountingStore, name: str, path: Path, go_on: Callable[[], object]) -> None:
        if "heads" in path.name:
            path.write_bytes(b"hea")
            while len(list((path.parent / "tantivy").glob("*[!t]"))) < 2:  # until the others are complete
                time.sleep(0.01)
            raise StorageUnavailable("the store cannot be used")
        get_file(self, name, path, go_on)

    monkeypatch.setattr(CountingStore, "get_file", failing)
    with pytest.raises(StorageUnavailable):
        bring(store, tmp_path / "node")
    monkeypatch.undo()
    assert (tmp_path / "node" / "gen-000001.tmp").is_dir()
    (tmp_path / "node" / "gen-000001.tmp" / "of another generation").touch()
    store.downloaded.clear()
    brought = bring(store, tmp_path / "node")
    assert len(store.downloaded) == 1
    assert contents(brought) == contents(tmp_path / "index" / "gen-000001")


def test_a_download_is_stopped(store: CountingStore, tmp_path: Path) -> None:
    current = publish(store, tmp_path / "index", FILES)
    cache = GenerationCache(tmp_path / "node", published_in(store), PLENTY)
    cache.stop()
    with pytest.raises(Interrupted):
        cache.bring(current)
    assert live(tmp_path / "node") is None


def test_leftovers_of_other_generations_are_removed(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    (tmp_path / "node" / "gen-000007.tmp" / "tantivy").mkdir(parents=True)
    bring(store, tmp_path / "node")
    assert not (tmp_path / "node" / "gen-000007.tmp").exists()


@pytest.mark.parametrize(("generations", "kept"), [(1.5, [3]), (2.5, [2, 3]), (9, [1, 2, 3]), (0, [3])])
def test_old_generations_are_kept_up_to_a_size(
    generations: float, kept: list[int], store: CountingStore, tmp_path: Path
) -> None:
    for number in range(3):
        publish(store, tmp_path / "index", {"a": b"%d" % number * 10_000})
        bring(store, tmp_path / "node", int(generations * 10_300))
    found = [path.name for path in Generations(tmp_path / "node", INDEX_KIND).complete()]
    assert found == [f"gen-{number:06d}" for number in kept]


def test_shared_files_count_once(store: CountingStore, tmp_path: Path) -> None:
    for number in range(3):
        publish(store, tmp_path / "index", {"a": b"%d" % number, "large": b"l" * 100_000})
        bring(store, tmp_path / "node", 150_000)
    assert len(Generations(tmp_path / "node", INDEX_KIND).complete()) == 3


def test_a_generation_that_is_being_read_stays(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    with closing(Generation(bring(store, tmp_path / "node"), INDEX_KIND)) as opened:
        publish(store, tmp_path / "index", FILES)
        bring(store, tmp_path / "node", 0)
        opened.require_intact()


def test_a_local_generation_of_the_same_number_is_replaced(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES | {"a": b"one"})
    bring(store, tmp_path / "node")
    store.delete([facts.name for facts in store.list("index")])
    shutil.rmtree(tmp_path / "index")
    publish(store, tmp_path / "index", FILES | {"a": b"two"})
    with closing(Generation(tmp_path / "node" / "gen-000001", INDEX_KIND)), pytest.raises(DamagedFile, match="Restart"):
        bring(store, tmp_path / "node")
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"two"


def test_nothing_is_brought_while_another_process_builds(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    (tmp_path / "node").mkdir()
    with Generations(tmp_path / "node", INDEX_KIND).held(), pytest.raises(CollectionLocked):
        bring(store, tmp_path / "node")


def published_with(store: CountingStore, folder: Path, change: dict[str, Any]) -> None:
    """Publish a generation with another meta.json."""
    publish(store, folder, FILES)
    meta = folder / "gen-000001" / "meta.json"
    meta.write_bytes(with_checksums(verified(meta.read_bytes()) | change))
    digest = xxh3_128_hexdigest(meta.read_bytes())
    store.put(f"index/gen-000001/meta-{digest}.json", meta.read_bytes())
    store.put("index/CURRENT", f"gen-000001 {digest}\n".encode())


def test_a_generation_of_a_later_release_is_refused(store: CountingStore, tmp_path: Path) -> None:
    published_with(store, tmp_path / "index", {"format": INDEX_KIND.format + 1})
    with pytest.raises(NewerFormat):
        bring(store, tmp_path / "node")


def test_no_file_is_written_outside_the_generation(store: CountingStore, tmp_path: Path) -> None:
    published_with(store, tmp_path / "index", {"files": {"../../outside": [0, "0" * 32]}})
    with pytest.raises(DamagedFile, match="outside its folder"):
        bring(store, tmp_path / "node")


def test_a_real_index_is_searched_where_it_was_brought(store: CountingStore, tmp_path: Path) -> None:
    made = shelve(tmp_path / "made", [Doc("http://a.test/", "Old harbour", "harbour")])
    node = create_collection(tmp_path / "node")
    for doc in (Doc("http://b.test/", "New harbour", "harbour"), Doc("http://c.test/", "Harbour", "harbour")):
        shelve(made.home, [doc])
        index(made)
        published, folder = published_in(store), Generations(made.index, INDEX_KIND).live()
        assert folder is not None
        published.publish(folder, published.current(), 3)
        bring(store, node.index)
    with closing(SearchEngine.open(node, settings())) as engine:
        assert sorted(urls(engine.search("harbour"))) == ["http://a.test/", "http://b.test/", "http://c.test/"]


def test_a_node_brings_its_own_shards_and_later_other_shards(store: CountingStore, tmp_path: Path) -> None:
    made = shelve(tmp_path / "made", [Doc(f"http://a{n}.test/", f"Harbour {n}", "harbour") for n in range(12)])
    index(made, shards=3)
    published, folder, node = published_in(store), made.index / "gen-000001", tmp_path / "node"
    current = published.publish(folder, None, 3)
    for shards in ([1], [0, 2], []):
        cache = GenerationCache(node, published, PLENTY, partial(files_for_shards, shards))
        store.downloaded.clear()
        brought = cache.bring(current)
        assert cache.is_live(current)
        names = {name for name in contents(folder) if not name.endswith(".lock")}
        assert contents(brought).keys() >= {*files_for_shards(shards, names), "meta.json"}
        assert bool(store.downloaded) is bool(shards)  # nothing is downloaded twice
    kept = sum(len(list((node / "gen-000001" / f"shard-{shard}").rglob("*.dat"))) for shard in range(3))
    assert kept == 9  # files of the shards that were served before stay


def test_real_ranks_are_read_where_they_were_brought(store: CountingStore, tmp_path: Path) -> None:
    crawled = web(tmp_path / "web", CrawledPage("https://a.org/", ["https://b.org/"]))
    crawled.rank()
    published, folder = PublishedGenerations(store, "ranks", RANK_KIND), crawled.collection.ranks
    current = published.publish(folder / "gen-1", None, 3)
    GenerationCache(tmp_path / "node", published, PLENTY).bring(current)
    here, there = open_ranks(tmp_path / "node"), open_ranks(folder)
    assert here is not None
    assert there is not None
    assert here.ranks.tolist() == there.ranks.tolist()


def without_shard_1(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("shard-1/")]


def test_a_node_brings_only_the_files_that_it_wants(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES | {"shard-0/a": b"zero", "shard-1/a": b"one"})
    published = published_in(store)
    current = published.current()
    assert current is not None
    some = GenerationCache(tmp_path / "node", published, PLENTY, without_shard_1)
    brought = some.bring(current)
    assert contents(brought).keys() == {*FILES, "shard-0/a", "meta.json"}
    assert some.is_live(current)
    whole = GenerationCache(tmp_path / "node", published, PLENTY)
    assert not whole.is_live(current)
    store.downloaded.clear()
    whole.bring(current)
    assert contents(brought) == contents(tmp_path / "index" / "gen-000001")
    assert len(store.downloaded) == 1, "the others are here"

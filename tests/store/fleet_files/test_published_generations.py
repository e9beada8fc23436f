from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from periplus.errors import DamagedFile, NoIndex, ObjectChanged, StorageUnavailable
from periplus.store.objects.object_store import ObjectStore
from periplus.store.objects.open_store import open_store
from store.fleet_files.fleet_files import CountingStore, bring, build, publish, published_in

FILES = {"heads.dat": b"heads" * 100, "tantivy/meta.json": b"{}", "tantivy/abc.idx": bytes(range(256))}


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path / "objects")


def objects(store: ObjectStore, folder: str = "index") -> list[str]:
    return [facts.name for facts in store.list(folder)]


def make_old(store_folder: Path) -> None:
    """Let every object be two days old."""
    for path in store_folder.rglob("*"):
        if path.is_file():
            os.utime(path, (time.time() - 2 * 86_400,) * 2)


def test_before_the_first_publication_nothing_is_live(store: CountingStore) -> None:
    assert published_in(store).current() is None


def test_a_published_generation_is_live(store: CountingStore, tmp_path: Path) -> None:
    made = publish(store, tmp_path / "index", FILES)
    assert published_in(store).current() == made
    assert (made.name, made.number) == ("gen-000001", 1)
    assert len(store.uploaded) == len(FILES)


def test_a_file_that_the_live_generation_has_is_not_uploaded_again(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", FILES)
    make_old(tmp_path / "objects")
    store.uploaded.clear()
    publish(store, tmp_path / "index", FILES | {"heads.dat": b"other heads"})
    assert len(store.uploaded) == 1


def test_two_files_with_the_same_content_are_one_object(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", {"a": b"same", "b": b"same"})
    assert len(store.uploaded) == 1
    assert (bring(store, tmp_path / "node") / "b").read_bytes() == b"same"


def test_of_two_publishers_the_second_gets_an_error(store: CountingStore, tmp_path: Path) -> None:
    published = published_in(store)
    base = published.publish(build(tmp_path / "one", FILES), None, 3)
    bring(store, tmp_path / "two")
    first = published.publish(build(tmp_path / "one", FILES | {"a": b"first"}), base, 3)
    with pytest.raises(ObjectChanged, match=r"generation 2 was not published .*meanwhile. Run `periplus index` again"):
        published.publish(build(tmp_path / "two", FILES | {"a": b"second"}), base, 3)
    assert published.current() == first
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"first"


def test_who_lost_publishes_after_bringing_in_the_winner(store: CountingStore, tmp_path: Path) -> None:
    test_of_two_publishers_the_second_gets_an_error(store, tmp_path)
    bring(store, tmp_path / "two")
    publish(store, tmp_path / "two", FILES | {"a": b"third"})
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"third"


def test_a_generation_that_is_not_newer_is_refused(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "one", FILES)
    with pytest.raises(ObjectChanged, match="generation 1 is live"):
        publish(store, tmp_path / "two", FILES)


def test_a_damaged_file_is_not_published(store: CountingStore, tmp_path: Path) -> None:
    generation = build(tmp_path / "index", FILES)
    (generation / "heads.dat").write_bytes(b"HEADS" * 100)
    with pytest.raises(DamagedFile, match=r"heads\.dat"):
        published_in(store).publish(generation, None, 3)
    assert published_in(store).current() is None


def test_a_publication_that_was_interrupted_goes_on(
    store: CountingStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generation = build(tmp_path / "index", FILES)
    monkeypatch.setattr(store, "put_if", _unavailable)
    with pytest.raises(StorageUnavailable):
        published_in(store).publish(generation, None, 3)
    monkeypatch.undo()
    assert published_in(store).current() is None
    store.uploaded.clear()
    published_in(store).publish(generation, None, 3)
    assert not store.uploaded


def _unavailable(*_: object) -> str:
    raise StorageUnavailable("the store cannot be used")


def test_old_generations_are_removed_with_the_files_that_no_other_has(store: CountingStore, tmp_path: Path) -> None:
    for number in range(4):
        publish(store, tmp_path / "index", FILES | {"a": b"%d" % number}, keep=2)
        make_old(tmp_path / "objects")
    publish(store, tmp_path / "index", FILES | {"a": b"last"}, keep=2)
    manifests = [name.split("/")[1] for name in objects(store) if "/gen-" in name]
    assert manifests == ["gen-000004", "gen-000005"]
    assert len(objects(store, "index/files")) == len(FILES) + 2
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"last"


def test_a_young_file_of_no_generation_stays(store: CountingStore, tmp_path: Path) -> None:
    store.put("index/files/" + "0" * 32, b"of a publication that goes on")
    publish(store, tmp_path / "index", FILES, keep=1)
    assert "index/files/" + "0" * 32 in objects(store)


def test_an_earlier_generation_becomes_live_again(store: CountingStore, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", {"a": b"one"})
    publish(store, tmp_path / "index", {"a": b"two"})
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"two"
    published = published_in(store)
    published.make_live(published.find(1, published.current()), published.current())
    assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"one"
    with pytest.raises(NoIndex, match="has no generation 7"):
        published.find(7, published.current())
    with pytest.raises(NoIndex, match="has no earlier generation"):
        published.find(None, published.current())


@pytest.mark.parametrize("content", [b"", b"gen-1", b"../../x 0\n", b"\xff\xfe"])
def test_a_damaged_current_is_reported(content: bytes, store: CountingStore) -> None:
    store.put("index/CURRENT", content)
    with pytest.raises(DamagedFile, match=r"CURRENT is damaged.*`periplus index` publishes"):
        published_in(store).current()


def test_it_works_in_s3(bucket: str, tmp_path: Path) -> None:
    store = open_store(f"{bucket}/fleet")
    for number in range(3):
        publish(store, tmp_path / "index", FILES | {"a": b"%d" % number}, keep=2)
        assert (bring(store, tmp_path / "node") / "a").read_bytes() == b"%d" % number
    assert len([name for name in objects(store) if "/gen-" in name]) == 2

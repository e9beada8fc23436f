"""What every object store does: S3 and a folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from periplus.errors import Interrupted, ObjectChanged, ObjectMissing
from periplus.store.objects.object_store import ObjectStore
from periplus.store.objects.open_store import open_store

LARGE = 20 << 20  # several parts


@pytest.fixture(params=["file", "s3", "s3 without a prefix"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "file":
        (tmp_path / "objects").mkdir()
        return open_store(f"file://{tmp_path}/objects", patience=5)
    bucket = request.getfixturevalue("bucket")
    return open_store(bucket if "without" in request.param else f"{bucket}/some/prefix", patience=5)


def names(store: ObjectStore, folder: str) -> list[str]:
    return sorted(facts.name for facts in store.list(folder))


def test_what_was_written_is_read(store: ObjectStore) -> None:
    store.put("a/b", b"one")
    assert store.get("a/b").data == b"one"
    store.put("a/b", b"two")
    assert store.get("a/b").data == b"two"


def test_an_empty_object_is_an_object(store: ObjectStore, tmp_path: Path) -> None:
    store.put("empty", b"")
    store.get_file("empty", tmp_path / "got")
    assert store.get("empty").data == (tmp_path / "got").read_bytes() == b""


def test_a_large_file_goes_there_and_back(store: ObjectStore, tmp_path: Path) -> None:
    content = os.urandom(1 << 20) * (LARGE >> 20)
    (tmp_path / "file").write_bytes(content)
    store.put_file("archive/w1000-000001.warc.gz", tmp_path / "file")
    store.get_file("archive/w1000-000001.warc.gz", tmp_path / "got")
    assert (tmp_path / "got").read_bytes() == content


def test_a_download_ends_when_its_caller_says_so(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(LARGE))
    store.put_file("file", tmp_path / "file")
    parts: list[int] = []

    def go_on() -> None:
        parts.append(1)
        if len(parts) == 2:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        store.get_file("file", tmp_path / "got", go_on)
    assert (tmp_path / "got").stat().st_size < LARGE


def test_an_empty_file_becomes_an_object(store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store.put_file("file", tmp_path / "file")
    assert store.get("file").data == b""


def test_a_part_of_an_object_is_read(store: ObjectStore) -> None:
    store.put("a", b"0123456789")
    assert store.read_range("a", 3, 4) == b"3456"
    assert store.read_range("a", 8, 100) == b"89"


def test_a_missing_object_is_named(store: ObjectStore, tmp_path: Path) -> None:
    for read in (
        lambda: store.get("a/nothing"),
        lambda: store.read_range("a/nothing", 0, 1),
        lambda: store.get_file("a/nothing", tmp_path / "got"),
    ):
        with pytest.raises(ObjectMissing, match=r"has no object a/nothing"):
            read()


def test_a_folder_lists_its_objects_with_sizes(store: ObjectStore) -> None:
    for name in ("segments/a", "segments/b/c", "segments-2/d", "e"):
        store.put(name, name.encode())
    assert names(store, "segments") == ["segments/a", "segments/b/c"]
    assert [facts.size for facts in store.list("segments-2")] == [len("segments-2/d")]
    assert names(store, "nothing") == []


def test_a_deleted_object_is_gone_and_may_be_deleted_again(store: ObjectStore) -> None:
    for name in ("a", "b", "c"):
        store.put(name, b"")
    store.delete(["a", "b", "nothing"])
    store.delete(["a"])
    store.delete([])
    for name in ("a", "b"):
        with pytest.raises(ObjectMissing):
            store.get(name)
    assert store.get("c").data == b""


def test_of_two_first_writers_one_wins(store: ObjectStore) -> None:
    store.put_if("CURRENT", b"one", None)
    with pytest.raises(ObjectChanged, match="another process has written CURRENT"):
        store.put_if("CURRENT", b"two", None)
    assert store.get("CURRENT").data == b"one"


def test_of_two_successors_one_wins(store: ObjectStore) -> None:
    tag = store.put_if("CURRENT", b"one", None)
    assert store.get("CURRENT").tag == tag
    after = store.put_if("CURRENT", b"two", tag)
    with pytest.raises(ObjectChanged):
        store.put_if("CURRENT", b"three", tag)
    assert store.get("CURRENT") == (b"two", after)


def test_a_successor_of_a_deleted_object_is_refused(store: ObjectStore) -> None:
    tag = store.put_if("CURRENT", b"one", None)
    store.delete(["CURRENT"])
    with pytest.raises(ObjectChanged):
        store.put_if("CURRENT", b"two", tag)
    with pytest.raises(ObjectMissing):
        store.get("CURRENT")


def test_a_conditional_write_whose_answer_was_lost_may_be_repeated(store: ObjectStore) -> None:
    first = store.put_if("CURRENT", b"one", None)
    assert store.put_if("CURRENT", b"one", None) == first
    second = store.put_if("CURRENT", b"two", first)
    assert store.put_if("CURRENT", b"two", first) == second


def test_of_many_writers_at_once_exactly_one_wins(store: ObjectStore) -> None:
    tag = store.put_if("CURRENT", b"start", None)

    def write(number: int) -> int | None:
        try:
            store.put_if("CURRENT", b"%d" % number, tag)
        except ObjectChanged:
            return None
        return number

    with ThreadPoolExecutor(8) as threads:
        winners = [number for number in threads.map(write, range(8)) if number is not None]
    assert len(winners) == 1
    assert store.get("CURRENT").data == b"%d" % winners[0]

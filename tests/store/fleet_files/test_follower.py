from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from periplus.errors import NoIndex, StorageUnavailable
from periplus.store.collection import Collection
from periplus.store.fleet_files.follower import IndexFollower
from periplus.store.generations import INDEX_KIND, Generations
from periplus.store.objects.folder_store import FolderObjectStore
from store.fleet_files.fleet_files import PLENTY, CountingStore, publish

NEVER = 3600.0  # seconds between two polls


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path / "objects")


@pytest.fixture
def node(store: CountingStore, tmp_path: Path) -> Collection:
    (tmp_path / "node").mkdir()
    return Collection(tmp_path / "node", storage=store.url)


def live(node: Collection) -> str | None:
    found = Generations(node.index, INDEX_KIND).live()
    return found.name if found else None


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_start_brings_the_live_generation(store: CountingStore, node: Collection, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", {"a": b"one"})
    lines: list[str] = []
    with closing(IndexFollower(node, PLENTY, NEVER)) as follower:
        follower.start(lines.append)
        assert live(node) == "gen-000001"
    assert lines == [f"Downloading generation 1 of the index from {store.url}"]


def test_a_start_without_changes_says_nothing(store: CountingStore, node: Collection, tmp_path: Path) -> None:
    test_a_start_brings_the_live_generation(store, node, tmp_path)
    lines: list[str] = []
    with closing(IndexFollower(node, PLENTY, NEVER)) as follower:
        follower.start(lines.append)
    assert lines == []


def test_a_new_generation_is_brought_while_it_follows(store: CountingStore, node: Collection, tmp_path: Path) -> None:
    publish(store, tmp_path / "index", {"a": b"one"})
    with closing(IndexFollower(node, PLENTY, 0.01)) as follower:
        follower.start(print)
        publish(store, tmp_path / "index", {"a": b"two"})
        until(lambda: live(node) == "gen-000002")


def test_without_the_store_it_begins_with_the_last_generation(
    store: CountingStore, node: Collection, tmp_path: Path
) -> None:
    test_a_start_brings_the_live_generation(store, node, tmp_path)
    (tmp_path / "objects").rename(tmp_path / "away")
    lines: list[str] = []
    with closing(IndexFollower(node, PLENTY, 0.01)) as follower:
        follower.start(lines.append)
        assert live(node) == "gen-000001"
        assert "Beginning with the index of the last start" in lines[0]
        (tmp_path / "away").rename(tmp_path / "objects")
        publish(store, tmp_path / "index", {"a": b"two"})
        until(lambda: live(node) == "gen-000002")


def test_without_the_store_and_without_a_generation_it_does_not_begin(node: Collection, tmp_path: Path) -> None:
    (tmp_path / "objects").rename(tmp_path / "away")
    with (
        closing(IndexFollower(node, PLENTY, NEVER)) as follower,
        pytest.raises(StorageUnavailable, match="there is no such folder"),
    ):
        follower.start(print)


def test_before_the_first_index_it_does_not_begin(node: Collection) -> None:
    with (
        closing(IndexFollower(node, PLENTY, NEVER)) as follower,
        pytest.raises(NoIndex, match=r"has no index yet. `periplus up`"),
    ):
        follower.start(print)


def test_an_error_is_logged_once_and_the_generation_stays(
    store: CountingStore, node: Collection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publish(store, tmp_path / "index", {"a": b"one"})
    with closing(IndexFollower(node, PLENTY, NEVER)) as follower, caplog.at_level(logging.WARNING):
        follower.start(print)
        store.put("index/CURRENT", b"damaged")
        follower.check()
        follower.check()
    assert live(node) == "gen-000001"
    assert [record.message.partition(":")[0] for record in caplog.records] == ["still serving the last generation"]


def test_a_stop_ends_a_download(
    store: CountingStore, node: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, tmp_path / "index", {"a": b"one"})
    begun: list[str] = []

    def endless(self: FolderObjectStore, name: str, path: Path, go_on: Callable[[], object]) -> None:
        begun.append(name)
        while True:
            go_on()
            time.sleep(0.01)

    with closing(IndexFollower(node, PLENTY, 0.01)) as follower:
        follower.start(print)
        monkeypatch.setattr(FolderObjectStore, "get_file", endless)
        publish(store, tmp_path / "index", {"a": b"two"})
        until(lambda: bool(begun))
        closed = Thread(target=follower.close, daemon=True)
        closed.start()
        closed.join(30)
        assert not closed.is_alive()
    assert live(node) == "gen-000001"

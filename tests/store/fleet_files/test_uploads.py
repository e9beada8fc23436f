from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from periplus.errors import StorageUnavailable
from periplus.store.archive.warc_files import archive_name
from periplus.store.checksums import file_digest
from periplus.store.collection import Collection, create_collection
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS, Mark, Uploader, WaitingFile, is_complete
from periplus.store.manifest import segment_name
from periplus.store.objects.object_store import ObjectStore
from periplus.store.objects.open_store import open_store
from s3_server import S3Server
from store.fleet_files.fleet_files import CountingStore

WORKER = 1000
FIRST, SECOND = archive_name(WORKER, 1), archive_name(WORKER, 2)


@dataclass
class MemoryRows:
    """The rows of one worker's files, in memory."""

    files: list[WaitingFile] = field(default_factory=list)
    stored: set[str] = field(default_factory=set)
    sealed: set[str] = field(default_factory=set)  # archive files whose pages are all in segments
    given_up: set[str] = field(default_factory=set)
    graces: int = 0

    def waiting(self, growing: str) -> list[WaitingFile]:
        left = [file for file in self.files if file.name not in self.stored | self.given_up]
        return [file for file in left if file.folder == SEGMENTS or is_complete(file.name, growing)]

    def mark_stored(self, file: WaitingFile) -> Mark:
        if file.name in self.lost:
            self.given_up.add(file.name)
            return Mark.GIVEN_UP
        if file not in self.files:
            return Mark.GROWN
        self.stored.add(file.name)
        return Mark.STORED

    def is_removable(self, folder: str, name: str) -> bool:
        return name in self.stored and (folder == SEGMENTS or name in self.sealed)

    def extend_grace(self) -> None:
        self.graces += 1

    def leave(self) -> None:
        pass

    def close(self) -> None:
        pass

    lost: set[str] = field(default_factory=set)  # the fleet gives them up


@pytest.fixture
def node(tmp_path: Path) -> Collection:
    return create_collection(tmp_path / "node")


@pytest.fixture
def store(tmp_path: Path) -> CountingStore:
    return CountingStore(tmp_path / "objects")


@pytest.fixture
def rows() -> MemoryRows:
    return MemoryRows()


def archive(node: Collection, rows: MemoryRows, name: str = FIRST, content: bytes = b"records") -> Path:
    """An archive file whose content is acknowledged."""
    path = node.archive / name
    path.write_bytes(content)
    rows.files.append(WaitingFile(ARCHIVE, name, len(content)))
    return path


def segment(node: Collection, rows: MemoryRows, number: int = 1) -> Path:
    """A sealed file of a segment."""
    path = node.segments / segment_name("pages", WORKER, number)
    path.write_bytes(b"rows" * number)
    rows.files.append(WaitingFile(SEGMENTS, path.name, path.stat().st_size, file_digest(path)))
    return path


def uploader(node: Collection, store: ObjectStore, rows: MemoryRows, growing: str = SECOND) -> Uploader:
    return Uploader(node, store, rows, (WORKER,), lambda: growing)


def test_a_complete_file_is_uploaded_recorded_and_removed(
    node: Collection, store: CountingStore, rows: MemoryRows
) -> None:
    path, pages = archive(node, rows), segment(node, rows)
    rows.sealed.add(FIRST)
    assert uploader(node, store, rows).upload() == 0
    assert store.get(f"archive/{FIRST}").data == b"records"
    assert store.get(f"segments/{pages.name}").data == b"rows"
    assert rows.stored == {FIRST, pages.name}
    assert not path.exists()
    assert not pages.exists()


def test_files_that_may_still_grow_stay(node: Collection, store: CountingStore, rows: MemoryRows) -> None:
    paths = [archive(node, rows), archive(node, rows, SECOND)]
    assert uploader(node, store, rows, growing=FIRST).upload() == 0
    assert all(path.exists() for path in paths)
    assert not store.uploaded


def test_a_file_that_grows_during_its_upload_is_uploaded_again(
    node: Collection, store: CountingStore, rows: MemoryRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, put = archive(node, rows), store.put_file

    def put_and_grow(name: str, path: Path) -> None:
        put(name, path)
        path.write_bytes(b"records and more")
        rows.files[0] = rows.files[0]._replace(size=path.stat().st_size)

    monkeypatch.setattr(store, "put_file", put_and_grow)
    working = uploader(node, store, rows)
    assert working.upload() == 1
    assert path.exists()
    assert not rows.stored
    monkeypatch.undo()
    assert working.upload() == 0
    assert store.get(f"archive/{FIRST}").data == b"records and more"


def test_an_archive_file_stays_until_its_pages_are_in_segments(
    node: Collection, store: CountingStore, rows: MemoryRows
) -> None:
    path = archive(node, rows)
    working = uploader(node, store, rows)
    working.upload()
    assert path.exists()
    rows.sealed.add(FIRST)
    working.upload()
    assert not path.exists()
    assert len(store.uploaded) == 1


def test_a_node_that_builds_keeps_its_segments(node: Collection, store: CountingStore, rows: MemoryRows) -> None:
    path = segment(node, rows)
    node.index.mkdir()
    working = uploader(node, store, rows)
    working.upload()
    assert rows.stored
    assert path.exists()
    node.index.rmdir()
    working.upload()
    assert not path.exists(), "it does not build any more"


def test_archive_files_of_other_workers_are_left_alone(
    node: Collection, store: CountingStore, rows: MemoryRows
) -> None:
    other = node.archive / archive_name(1001, 1)
    other.write_bytes(b"")
    rows.stored.add(other.name)
    rows.sealed.add(other.name)
    uploader(node, store, rows).upload()
    assert other.exists()


def test_while_the_store_is_down_files_wait_and_the_error_is_logged_once(
    node: Collection,
    store: CountingStore,
    rows: MemoryRows,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, working = archive(node, rows), uploader(node, store, rows)

    def down(*_: object) -> None:
        raise StorageUnavailable("the store cannot be used")

    monkeypatch.setattr(store, "put_file", down)
    with caplog.at_level(logging.WARNING):
        assert working.upload()
        assert working.upload()
    assert len(caplog.records) == 1
    assert path.exists()
    monkeypatch.undo()
    assert working.upload() == 0
    assert rows.stored == {FIRST}


def test_a_damaged_segment_is_not_uploaded_and_the_others_are(
    node: Collection, store: CountingStore, rows: MemoryRows, caplog: pytest.LogCaptureFixture
) -> None:
    damaged, sound = segment(node, rows, 1), segment(node, rows, 2)
    damaged.write_bytes(b"ROWS")
    working = uploader(node, store, rows)
    assert working.upload() == working.upload() == 1
    assert rows.stored == {sound.name}
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "cannot be uploaded" in caplog.text


def test_a_node_that_has_left_shows_before_every_file_that_it_still_uploads(
    node: Collection, store: CountingStore, rows: MemoryRows
) -> None:
    for number in (1, 2, 3):
        segment(node, rows, number)
    uploader(node, store, rows).finish()
    assert rows.graces == 3


def test_what_the_fleet_has_given_up_is_kept_aside(node: Collection, store: CountingStore, rows: MemoryRows) -> None:
    path, pages = archive(node, rows), segment(node, rows)
    rows.lost.update({FIRST, pages.name})
    uploader(node, store, rows).upload()
    assert (node.home / "kept" / FIRST).read_bytes() == b"records"
    assert not path.exists()
    assert not pages.exists()
    assert not list(store.list(ARCHIVE))
    assert not list(store.list(SEGMENTS))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_an_outage_of_s3_loses_nothing(s3: S3Server, bucket: str, node: Collection, rows: MemoryRows) -> None:
    store = open_store(bucket, patience=1)
    with closing(uploader(node, store, rows, growing="")) as working:
        with s3.answering(503):
            working.start()
            for number in range(1, 6):
                archive(node, rows, archive_name(WORKER, number), b"%d" % number)
                segment(node, rows, number)
            time.sleep(4)
            assert not rows.stored
        until(lambda: len(rows.stored) == 10)
    assert {one.size for one in store.list(SEGMENTS)} == {4, 8, 12, 16, 20}

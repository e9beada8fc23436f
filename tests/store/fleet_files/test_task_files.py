"""Tasks on other machines read segments and temporary files from the object store."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from periplus.errors import DamagedFile
from periplus.store.checksums import StoredFile, file_digest
from periplus.store.collection import Collection
from periplus.store.fleet_files.task_files import SegmentFiles, scratch_files
from periplus.store.objects.open_store import open_store

NAME = "pages-w00-000001.parquet"


@pytest.fixture
def storage(tmp_path: Path) -> str:
    (tmp_path / "objects").mkdir()
    return f"file://{tmp_path}/objects"


def stored(storage: str, tmp_path: Path, content: bytes) -> StoredFile:
    """A segment that only the object store has."""
    path = tmp_path / NAME
    path.write_bytes(content)
    open_store(storage).put_file(f"segments/{NAME}", path)
    file = StoredFile(path, len(content), file_digest(path))
    path.unlink()
    return file


def test_a_segment_that_is_not_in_the_folder_is_copied_for_the_time_of_the_block(storage: str, tmp_path: Path) -> None:
    file = stored(storage, tmp_path, b"rows")
    with SegmentFiles(storage).opened(file) as path:
        assert path.read_bytes() == b"rows"
        assert path != file.path
    assert not path.exists()


def test_a_segment_in_the_folder_is_read_there(storage: str, tmp_path: Path) -> None:
    file = stored(storage, tmp_path, b"rows")
    file.path.write_bytes(b"rows")
    with SegmentFiles(storage).opened(file) as path:
        assert path == file.path


def test_a_damaged_copy_is_not_used(storage: str, tmp_path: Path) -> None:
    file = stored(storage, tmp_path, b"rows")
    open_store(storage).put(f"segments/{NAME}", b"rowz")
    with pytest.raises(DamagedFile, match=NAME), SegmentFiles(storage).opened(file):
        pass


def test_a_damaged_segment_in_the_folder_is_noticed(storage: str, tmp_path: Path) -> None:
    file = stored(storage, tmp_path, b"rows")
    SegmentFiles(storage).check(file)  # its copy is checked when it is opened
    file.path.write_bytes(b"rowz")
    with pytest.raises(DamagedFile, match=NAME):
        SegmentFiles(storage).check(file)
    file.path.unlink()
    with pytest.raises(DamagedFile, match="missing"):
        SegmentFiles("").check(file)


@pytest.mark.parametrize("is_shared", [False, True])
def test_temporary_files_are_read_on_other_machines_and_removed(is_shared: bool, storage: str, tmp_path: Path) -> None:
    with scratch_files(Collection(tmp_path, storage=storage if is_shared else ""), tmp_path) as files:
        files.write("block-0", b"links")
        assert pickle.loads(pickle.dumps(files)).read("block-0") == b"links"
    assert list(open_store(storage).list("scratch")) == []


def test_temporary_files_of_a_job_that_was_killed_long_ago_are_removed(storage: str, tmp_path: Path) -> None:
    store = open_store(storage)
    for name, age in (("old", 8 * 24 * 3600), ("running", 3600)):
        store.put(f"scratch/{name}/block-0", b"")
        path = tmp_path / "objects" / "scratch" / name / "block-0"
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    with scratch_files(Collection(tmp_path, storage=storage), tmp_path):
        pass
    assert [one.name for one in store.list("scratch")] == ["scratch/running/block-0"]

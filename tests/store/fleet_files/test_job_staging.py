"""Tasks get what the driver offers, and the driver reads what complete attempts have written, and nothing else."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.errors import DamagedFile
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_staging import JobStaging, TaskOutput, job_staging


@pytest.fixture(params=["folder", "store"])
def collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    (tmp_path / "store").mkdir()
    return Collection(tmp_path / "home", storage=f"file://{tmp_path}/store" if request.param == "store" else "")


@pytest.fixture
def staging(collection: Collection) -> Iterator[JobStaging]:
    with job_staging(collection, "test") as made:
        yield made


def attempt(staging: JobStaging, text: str) -> TaskOutput:
    """What a task does, with the copy of the staging that it gets."""
    copy: JobStaging = pickle.loads(pickle.dumps(staging))
    with copy.task_folders("one") as folders:
        (folders.outputs / "sub").mkdir()
        (folders.outputs / "first.txt").write_text("half")
        published = (folders.inputs / "input.txt").read_text()
        (folders.outputs / "sub" / "output.txt").write_text(f"{published} {text}")
        return copy.publish_output(folders)


def publish(staging: JobStaging) -> None:
    (staging.inputs_of("one") / "input.txt").write_text("from the driver")
    staging.publish_input("one")


def objects(collection: Collection) -> list[Path]:
    """Every file of the job, wherever it is."""
    folders = [collection.home / "scratch", Path(collection.storage.removeprefix("file://"))]
    return [path for folder in folders[: 1 + bool(collection.storage)] for path in folder.rglob("*.txt")]


def test_the_driver_receives_what_the_named_attempt_wrote(collection: Collection) -> None:
    with job_staging(collection, "test") as staging:
        publish(staging)
        first, second = attempt(staging, "first"), attempt(staging, "second")
        assert first.attempt != second.attempt
        received = staging.collect_output(second)
        assert (received / "sub" / "output.txt").read_text() == "from the driver second"
        assert objects(collection)
    assert objects(collection) == []


def test_an_attempt_that_fails_leaves_nothing_that_could_be_read(staging: JobStaging, collection: Collection) -> None:
    with pytest.raises(FileNotFoundError, match=r"input\.txt"):  # nothing was published
        attempt(staging, "half")
    assert objects(collection) == []


def test_an_output_that_was_changed_is_refused(staging: JobStaging, collection: Collection) -> None:
    publish(staging)
    output = attempt(staging, "complete")
    (path,) = [path for path in objects(collection) if path.name == "output.txt"]
    path.write_text("short")
    with pytest.raises(DamagedFile, match=r"output\.txt is damaged"):
        staging.collect_output(output)


def test_objects_of_a_job_that_was_killed_long_ago_are_deleted(tmp_path: Path) -> None:
    collection = Collection(tmp_path / "home", storage=f"file://{tmp_path}/store")
    old, young = (tmp_path / "store" / "scratch" / name / "output.txt" for name in ("index-1", "index-2"))
    for path in (old, young):
        path.parent.mkdir(parents=True)
        path.write_text("left behind")
    long_ago = time.time() - 8 * 86400
    os.utime(old, (long_ago, long_ago))
    with job_staging(collection, "test"):
        pass
    assert objects(collection) == [young]

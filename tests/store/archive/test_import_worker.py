"""Every node of a fleet imports under a number of its own, and what it leaves is uploaded or given up."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from periplus.archives.importer import import_archives
from periplus.config import Settings
from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.store.archive.import_worker import import_worker
from periplus.store.archive.warc_files import IMPORTS, ArchiveWriter
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection, create_collection, folder_id
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.fleet_files.lost_files import LostFiles
from periplus.store.fleet_files.unstored_files import unstored_files
from periplus.store.objects.folder_store import FolderObjectStore
from store.records import a_response


@pytest.fixture
def node(postgres: str, tmp_path: Path) -> Collection:
    return made(tmp_path / "node", postgres, tmp_path)


def made(folder: Path, postgres: str, objects: Path) -> Collection:
    return replace(create_collection(folder), database=postgres, storage=f"file://{objects}", node=folder.name)


def write_pages(collection: Collection, worker: int, *times: float) -> Path:
    """An archive file with pages that no catalog knows."""
    with closing(ArchiveWriter.begin(collection.archive, worker, [])) as writer:
        for at in times:
            writer.append(replace(a_response(), fetched_at=at))
        writer.sync(writer.cut())
        return collection.archive / writer.name


def interrupted_import(node: Collection, source: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Import a page while the object store fails; returns the worker number."""
    file = write_pages(create_collection(source), 0, 1e9)
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", node.database)
    monkeypatch.setenv("PERIPLUS_FLEET__STORAGE", node.storage)
    monkeypatch.setenv("PERIPLUS_FLEET__NODE", node.node)
    with monkeypatch.context() as patch:
        patch.setattr(FolderObjectStore, "put_file", failing)
        assert import_archives(node.home, Settings(), [file]).pages == 1
    return import_worker(node)


def failing(*_: object) -> None:
    raise OSError("the store fails")


def test_every_node_has_a_number_of_its_own(node: Collection, postgres: str, tmp_path: Path) -> None:
    other = made(tmp_path / "other", postgres, tmp_path)
    assert import_worker(node) == import_worker(node) != import_worker(other)
    assert import_worker(create_collection(tmp_path / "alone")) == IMPORTS


@pytest.mark.parametrize("workers", [1, 3])
def test_one_worker_of_the_next_crawl_continues_it(node: Collection, postgres: str, workers: int) -> None:
    number = import_worker(node)
    with closing(FleetRows(postgres, node.node, folder_id(node), 60.0, since_boot)) as rows:
        earlier = [rows.join(one, workers).earlier for one in range(workers)]
    assert sum(number in one for one in earlier) == 1


def test_the_files_of_an_import_whose_node_is_lost_are_given_up(
    node: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = interrupted_import(node, tmp_path / "source", monkeypatch)
    assert {file.node for file in unstored_files(node)} == {"node"}
    time.sleep(0.5)
    with closing(open_catalog(node, LostFiles)) as lost:
        assert lost.lost_workers(60.0) == []
        assert lost.lost_workers(0.4) == [worker]
        assert lost.give_up(worker, 0.4, 7) == ["https://example.org/page"]
    assert unstored_files(node) == []


def test_the_next_import_uploads_what_an_earlier_one_has_left(
    node: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted_import(node, tmp_path / "source", monkeypatch)
    assert unstored_files(node)
    assert import_archives(node.home, Settings(), [next((tmp_path / "source" / "archive").iterdir())]).pages == 0
    assert unstored_files(node) == []


def test_what_a_killed_import_was_writing_is_removed_although_its_pages_have_old_dates(node: Collection) -> None:
    path = write_pages(node, import_worker(node), 1e9, 1.1e9)
    with closing(open_catalog(node, create=True)) as catalog:
        assert remove_unacknowledged(node, catalog) == []
    assert not path.exists()

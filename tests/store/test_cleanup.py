"""The archive files of a folder are never removed because the catalog of another collection does not know them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.errors import CollectionError
from periplus.store.archive.warc_files import ArchiveWriter, archive_name
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.cleanup import remove_unacknowledged
from periplus.store.collection import Collection, create_collection, folder_id, open_collection
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.fleet_files.uploads import ARCHIVE
from store.records import a_response


def write_page(collection: Collection, worker: int) -> Path:
    """An archive file with one page."""
    with closing(ArchiveWriter.begin(collection.archive, worker, [])) as writer:
        writer.append(a_response())
        writer.sync(writer.cut())
    return collection.archive / archive_name(worker, 1)


def node(folder: Path, url: str) -> Collection:
    return Collection(create_collection(folder).home, url)


def clean(collection: Collection) -> None:
    with closing(open_catalog(collection, create=True)) as catalog:
        remove_unacknowledged(collection, catalog)


def test_a_collection_of_one_machine_does_not_become_a_node(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = create_collection(tmp_path / "alone")
    open_catalog(alone, create=True).close()
    path = write_page(alone, 0)
    monkeypatch.setenv("PERIPLUS_FLEET__DATABASE", postgres)
    for open_folder in (open_collection, create_collection):
        with pytest.raises(CollectionError, match=r"alone is the collection of one machine: .*crawl\.db.* new folder"):
            open_folder(alone.home)
    assert path.exists()


def test_the_folder_of_a_node_without_its_database_gets_no_catalog_of_its_own(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    folder_id(collection)
    for create in (False, True):
        with pytest.raises(CollectionError, match=r"folder of a fleet node: .*PERIPLUS_FLEET__DATABASE"):
            open_catalog(collection, create=create)
    assert not collection.catalog.exists()


@pytest.mark.parametrize("worker", [0, 1003])
def test_files_of_another_collection_are_not_removed(tmp_path: Path, postgres: str, worker: int) -> None:
    collection = node(tmp_path, postgres)
    path = write_page(collection, worker)
    with pytest.raises(CollectionError, match=f"belongs to another fleet: .* nor this file as {path.name}. Use a new"):
        clean(collection)
    assert path.exists()


def test_files_of_another_collection_are_not_cut_because_the_fleet_has_the_same_name(
    tmp_path: Path, postgres: str
) -> None:
    collection = node(tmp_path, postgres)
    path = write_page(collection, 1000)
    before = path.read_bytes()
    with closing(open_catalog(collection, create=True)) as catalog:
        catalog.commit(Batch(), Written(1000, path.name, len(before) - 1, waits=True), catalog.begin_run({}), {})
    with pytest.raises(CollectionError, match="belongs to another fleet"):
        clean(collection)
    assert path.read_bytes() == before


def test_unacknowledged_files_of_the_fleet_are_removed(tmp_path: Path, postgres: str) -> None:
    collection = node(tmp_path, postgres)
    open_catalog(collection, create=True).close()
    with closing(FleetRows(postgres, "a", folder_id(collection), 60.0, since_boot)) as rows:
        worker = rows.join(0, 1).worker
    path = write_page(collection, worker)
    clean(collection)
    assert not path.exists(), "the node was killed before its first commit"


def test_files_that_the_fleet_knows_are_of_any_node(tmp_path: Path, postgres: str) -> None:
    collection = node(tmp_path, postgres)
    path = write_page(collection, 1003)
    with closing(open_catalog(collection, create=True)) as catalog:
        size = path.stat().st_size
        catalog.commit(Batch(), Written(1003, path.name, size, waits=False), catalog.begin_run({}), {})
    clean(collection)
    assert path.exists(), f"a job has downloaded it from {ARCHIVE}/"

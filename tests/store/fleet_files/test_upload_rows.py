"""Files of a crawl with a database and an object store: every node sees them after their upload."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from crawl.crawling import environment, periplus, reach
from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.fleet_files.lost_files import LostFiles
from periplus.store.fleet_files.upload_rows import CatalogUploadRows
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS, Mark, WaitingFile
from periplus.store.manifest import SealedSegment
from periplus.store.objects.open_store import open_store
from testweb import TestWeb, mesh

PAGES, LINKS = (SealedSegment(f"{kind}-w1000-000001.parquet", kind, 1, 7, b"digest") for kind in ("pages", "links"))
FIRST, SECOND = "w1000-000001.warc.gz", "w1000-000002.warc.gz"


@pytest.fixture
def node(postgres: str, tmp_path: Path) -> Collection:
    create_collection(tmp_path / "node")
    return Collection(tmp_path / "node", postgres, f"file://{tmp_path}")


@pytest.fixture
def rows(node: Collection) -> Iterator[CatalogUploadRows]:
    with closing(open_catalog(node, create=True)) as catalog:
        run = catalog.begin_run({})
        first = catalog.commit(Batch(), Written(1000, FIRST, 100, waits=True), run, {})
        catalog.commit(Batch(), Written(1000, SECOND, 50, waits=True), run, {})
        catalog.seal(1000, 1, [PAGES, LINKS], {first: 100}, is_stored=False)
    with closing(open_catalog(node, partial(CatalogUploadRows, worker=1000))) as found:
        yield found


def visible(node: Collection) -> list[str]:
    with closing(open_catalog(node)) as catalog:
        return [segment.name for segment in catalog.segments()]


def test_archive_files_come_first_but_only_those_before_the_one_that_grows(rows: CatalogUploadRows) -> None:
    assert rows.waiting(SECOND) == [WaitingFile(ARCHIVE, FIRST, 100)]
    assert rows.waiting(FIRST) == [], "the second one was begun later"
    assert [file.name for file in rows.waiting("")] == [FIRST, SECOND]


def test_segments_wait_for_the_archive_files_of_their_pages(rows: CatalogUploadRows) -> None:
    assert rows.mark_stored(WaitingFile(ARCHIVE, SECOND, 50)) is Mark.STORED
    assert rows.waiting(FIRST) == []  # the first one is still written, and it has pages of the segment
    assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED
    assert [(file.folder, file.name) for file in rows.waiting("")] == [(SEGMENTS, LINKS.name), (SEGMENTS, PAGES.name)]
    assert rows.waiting("")[0].digest == b"digest"


def test_a_segment_does_not_wait_for_an_archive_file_that_cannot_be_uploaded(
    node: Collection, rows: CatalogUploadRows
) -> None:
    assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED
    assert [file.name for file in rows.waiting("")] == [SECOND, LINKS.name, PAGES.name], "the second one is damaged"


def test_a_segment_does_not_wait_for_files_that_were_begun_after_it(node: Collection, rows: CatalogUploadRows) -> None:
    later = [segment._replace(name=segment.name.replace("1.parquet", "2.parquet")) for segment in (PAGES, LINKS)]
    with closing(open_catalog(node)) as catalog:
        (second,) = [file.archive_id for file in catalog.archives() if file.name == SECOND]
        catalog.seal(1000, 2, later, {second: 50}, is_stored=False)
    assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED
    assert [file.name for file in rows.waiting(SECOND)] == [LINKS.name, PAGES.name], "a busy worker always has one"
    assert rows.mark_stored(WaitingFile(ARCHIVE, SECOND, 50)) is Mark.STORED
    assert len(rows.waiting("")) == 4


def test_a_node_that_has_left_and_still_uploads_is_not_given_up(
    node: Collection, rows: CatalogUploadRows, postgres: str
) -> None:
    with closing(FleetRows(postgres, "a", "folder", 60.0, since_boot)) as fleet:
        me = fleet.join(0, 1)
        assert me.worker == 1000
        fleet.leave(me)
    with closing(open_catalog(node, LostFiles)) as lost:
        time.sleep(1)
        assert lost.lost_workers(1) == [1000]
        rows.extend_grace()
        assert lost.lost_workers(1) == []


def test_files_of_a_worker_that_the_node_has_no_more_wait_for_another_one(
    node: Collection, rows: CatalogUploadRows
) -> None:
    own = "w1001-000001.warc.gz"
    with closing(open_catalog(node)) as catalog:
        catalog.commit(Batch(), Written(1001, own, 9, waits=True), 1, {})
    for former, names in (((), []), ((1000,), [FIRST, SECOND])):
        with closing(open_catalog(node, partial(CatalogUploadRows, worker=1001, former=former))) as found:
            assert [file.name for file in found.waiting(own)] == names
            for file in found.waiting(own):
                assert found.mark_stored(file) is Mark.STORED
    assert [file.name for file in rows.waiting("")] == [LINKS.name, PAGES.name]


def test_a_segment_is_seen_after_its_upload(node: Collection, rows: CatalogUploadRows) -> None:
    assert visible(node) == []
    for segment in (LINKS, PAGES):
        assert rows.mark_stored(WaitingFile(SEGMENTS, segment.name, 7, b"digest")) is Mark.STORED
    assert sorted(visible(node)) == [LINKS.name, PAGES.name]


def test_an_archive_file_is_removable_when_it_is_stored_and_sealed(rows: CatalogUploadRows) -> None:
    for name, size in ((FIRST, 100), (SECOND, 50)):
        assert not rows.is_removable(ARCHIVE, name)
        assert rows.mark_stored(WaitingFile(ARCHIVE, name, size)) is Mark.STORED
    assert rows.is_removable(ARCHIVE, FIRST)
    assert not rows.is_removable(ARCHIVE, SECOND)
    assert not rows.is_removable(SEGMENTS, PAGES.name)


def test_a_file_without_a_row_was_given_up(rows: CatalogUploadRows) -> None:
    assert rows.mark_stored(WaitingFile(ARCHIVE, "w1000-000009.warc.gz", 1)) is Mark.GIVEN_UP


def test_a_file_that_grew_during_its_upload_is_uploaded_again(node: Collection, rows: CatalogUploadRows) -> None:
    assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 99)) is Mark.GROWN
    assert rows.waiting(SECOND) == [WaitingFile(ARCHIVE, FIRST, 100)]


def test_a_file_that_grew_after_its_upload_is_uploaded_again(node: Collection, rows: CatalogUploadRows) -> None:
    assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED
    with closing(open_catalog(node)) as catalog:
        catalog.commit(Batch(), Written(1000, FIRST, 120, waits=True), 1, {})
    assert rows.waiting(SECOND) == [WaitingFile(ARCHIVE, FIRST, 120)]
    assert not rows.is_removable(ARCHIVE, FIRST)


def test_a_process_that_is_stopped_while_it_records_an_upload_keeps_no_lock(rows: CatalogUploadRows) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresDatabase, "transaction", None)  # it could be stopped before the end of a transaction
        assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED


@pytest.mark.slow
def test_a_crawl_uploads_its_files_and_another_node_builds_the_index(
    postgres: str, bucket: str, tmp_path: Path
) -> None:
    fleet = environment(fleet__database=postgres, fleet__storage=f"{bucket}/fleet", fleet__upload_seconds="0.2")
    store = open_store(f"{bucket}/fleet")
    with TestWeb([mesh("a.test", 30)]) as web:
        crawled = periplus("crawl", "http://a.test/", "--home", tmp_path / "one", *reach(web), env=fleet)
    assert crawled.code == 0, crawled.err
    assert list(store.list("archive"))
    assert list(store.list("segments"))
    assert not [path for path in (tmp_path / "one" / "archive").iterdir() if path.stat().st_size]
    assert not list((tmp_path / "one" / "segments").iterdir())
    create_collection(tmp_path / "two")
    for command in ("reparse", "rank", "index", "verify"):
        ended = periplus(command, "--home", tmp_path / "two", env=fleet)
        assert ended.code == 0, ended.err
    found = periplus("search", "--home", tmp_path / "two", "--json", "page", env=fleet)
    assert "http://a.test/" in found.out
    assert list(store.list("index/files"))


@pytest.mark.slow
def test_an_import_uploads_its_pages(postgres: str, tmp_path: Path) -> None:
    (tmp_path / "objects").mkdir()
    with TestWeb([mesh("a.test", 5)]) as web:
        assert periplus("crawl", "http://a.test/", "--home", tmp_path / "alone", *reach(web)).code == 0
    (file,) = (tmp_path / "alone" / "archive").iterdir()
    fleet = environment(fleet__database=postgres, fleet__storage=f"file://{tmp_path}/objects")
    imported = periplus("import", file, "--home", tmp_path / "one", env=fleet)
    assert imported.code == 0, imported.err
    node = Collection(tmp_path / "one", postgres, f"file://{tmp_path}/objects")
    assert len(visible(node)) == 2
    assert len(list(open_store(node.storage).list("segments"))) == 2
    assert [facts.name for facts in open_store(node.storage).list("archive")] == ["archive/w1000-000001.warc.gz"]

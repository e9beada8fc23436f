"""Pages of a node that is gone are fetched again, unless they were uploaded."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from crawl.crawling import environment, periplus, reach
from periplus.crawl.coordination.fleet_coordination import since_boot
from periplus.store.archive.warc_files import archive_name
from periplus.store.catalog.batch import ArchiveFile, Batch, Written
from periplus.store.catalog.live_state import LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.fleet_files.lost_files import LostFiles
from periplus.store.fleet_files.upload_rows import CatalogUploadRows
from periplus.store.fleet_files.uploads import ARCHIVE, SEGMENTS, Mark, WaitingFile
from periplus.store.manifest import SealedSegment, segment_name
from testweb import TestWeb, mesh

SUCCESSOR = 2000  # worker
FIRST, SECOND = archive_name(1000, 1), archive_name(1000, 2)


@pytest.fixture
def node(postgres: str, tmp_path: Path) -> Collection:
    """A node that has crawled 30 pages, and whose object store was never there."""
    storage = f"file://{tmp_path}/missing"
    fleet = environment(fleet__database=postgres, fleet__storage=storage, fleet__upload_seconds="0.1")
    with TestWeb([mesh("a.test", 30)]) as web:
        crawled = periplus("crawl", "http://a.test/", "--home", tmp_path / "one", *reach(web), env=fleet)
    assert crawled.code == 0, crawled.err
    return Collection(tmp_path / "one", postgres, storage)


@pytest.mark.slow
def test_files_that_were_never_uploaded_are_given_up(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        assert catalog.counters()["queued"] == 0
        urls = catalog.give_up(worker, 0.0, SUCCESSOR)
        assert len(set(urls)) == 30
        assert catalog.archives(worker) == []
        assert catalog.counters()["queued"] == 30
        assert catalog.counters() == catalog.recount()
        assert not catalog.miscounted_hosts()
        assert not catalog.miscounted_outcomes()
        assert catalog.give_up(worker, 0.0, SUCCESSOR) == []


@pytest.mark.slow
def test_nothing_is_given_up_before_the_grace_time_is_over(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        assert catalog.lost_workers(3600.0) == []
        assert catalog.lost_workers(0.0) == [worker]
        assert catalog.give_up(worker, 3600.0, SUCCESSOR) == []
        assert catalog.counters()["queued"] == 0


@pytest.mark.slow
def test_a_file_that_was_uploaded_stays(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        files = catalog.archives(worker)
        with closing(open_catalog(node, partial(CatalogUploadRows, worker=worker))) as rows:
            for file in files:
                assert rows.mark_stored(WaitingFile(ARCHIVE, file.name, file.committed)) is Mark.STORED
        assert catalog.give_up(worker, 0.0, SUCCESSOR) == []
        stayed = catalog.archives(worker)
        assert [(file.name, file.committed) for file in stayed] == [(file.name, file.committed) for file in files]
        assert stayed[0].sealed == 0, "the segments of its pages are not uploaded"


@pytest.mark.slow
def test_a_node_that_comes_back_too_late_finds_no_row(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        file = catalog.archives(worker)[0]
        catalog.give_up(worker, 0.0, SUCCESSOR)
    with closing(open_catalog(node, partial(CatalogUploadRows, worker=worker))) as rows:
        assert rows.mark_stored(WaitingFile(ARCHIVE, file.name, file.committed)) is Mark.GIVEN_UP


@pytest.mark.slow
def test_pages_whose_segments_are_not_uploaded_wait_for_the_index(node: Collection) -> None:
    with closing(open_catalog(node)) as catalog:
        assert catalog.segments() == []
        pages, first = catalog.unsealed_pages()
        assert pages == 30
        assert first is not None
        (worker,) = catalog.archive_workers()
        with closing(open_catalog(node, partial(CatalogUploadRows, worker=worker))) as rows:
            for file in catalog.archives(worker):
                rows.mark_stored(WaitingFile(ARCHIVE, file.name, file.committed))
            assert catalog.unsealed_pages() == (30, first)
            for segment in rows.waiting(""):
                rows.mark_stored(segment)
        assert catalog.unsealed_pages() == (0, None)


def sealed(number: int) -> list[SealedSegment]:
    return [SealedSegment(segment_name(kind, 1000, number), kind, 1, 7, b"digest") for kind in ("pages", "links")]


@pytest.fixture
def lost(postgres: str, tmp_path: Path) -> Collection:
    """The folder of a worker that has left: of its two archive files one is uploaded, of its two segments one."""
    node = Collection(tmp_path, postgres, "file:///nowhere")
    with closing(open_catalog(node, create=True)) as catalog, closing(rows_of(postgres, "a")) as fleet:
        me = fleet.join(0, 1)
        assert me.worker == 1000
        run = catalog.begin_run({})
        first = catalog.commit(Batch(), Written(1000, FIRST, 100, waits=True), run, {})
        catalog.seal(1000, 1, sealed(1), {first: 60}, is_stored=False)
        second = catalog.commit(Batch(), Written(1000, SECOND, 50, waits=True), run, {})
        catalog.seal(1000, 2, sealed(2), {first: 100, second: 50}, is_stored=False)
        fleet.leave(me)
    links = sealed(2)[1].name  # its pages are not uploaded
    with closing(open_catalog(node, partial(CatalogUploadRows, worker=1000))) as rows:
        assert rows.mark_stored(WaitingFile(ARCHIVE, FIRST, 100)) is Mark.STORED
        for name in (*(segment.name for segment in sealed(1)), links):
            assert rows.mark_stored(WaitingFile(SEGMENTS, name, 7, b"digest")) is Mark.STORED
    return node


def rows_of(postgres: str, node: str) -> FleetRows:
    return FleetRows(postgres, node, node, 60.0, since_boot)


def test_uploaded_pages_of_a_lost_node_that_are_in_no_uploaded_segment_are_parsed_by_another_worker(
    lost: Collection,
) -> None:
    with closing(open_catalog(lost, LostFiles)) as files:
        (first, _) = files.archives(1000)
        files.give_up(1000, 0.0, SUCCESSOR)
        assert files.archives(1000) == [first._replace(sealed=60)]
        assert files.taken_over(SUCCESSOR) == [ArchiveFile(first.archive_id, FIRST, 100, 60)]
        assert files.unsealed_archives(1000) == [], "when it comes back, it leaves them to the other worker"
        assert [segment.name for segment in files.segments()] == [segment.name for segment in sealed(1)]
        assert files.lost_workers(0.0) == []


def test_pages_that_a_second_lost_worker_had_to_parse_go_to_a_third_one(lost: Collection) -> None:
    with closing(open_catalog(lost, LostFiles)) as files, closing(rows_of(lost.database, "b")) as fleet:
        me = fleet.join(0, 1)
        files.give_up(1000, 0.0, me.worker)
        assert files.lost_workers(0.0) == [], "it is live"
        fleet.leave(me)
        assert files.lost_workers(0.0) == [me.worker]
        files.give_up(me.worker, 0.0, SUCCESSOR)
        assert [file.name for file in files.taken_over(SUCCESSOR)] == [FIRST]


def test_a_node_with_fewer_workers_than_before_keeps_the_files_of_the_others(postgres: str, tmp_path: Path) -> None:
    node = Collection(tmp_path, postgres, "file:///nowhere")
    with closing(open_catalog(node, LostFiles, create=True)) as files, closing(rows_of(postgres, "a")) as fleet:
        zero, one = fleet.join(0, 2), fleet.join(1, 2)
        foreign = files.commit(Batch(), Written(500, archive_name(500, 1), 100, waits=False), files.begin_run({}), {})
        files.commit(Batch(), Written(one.worker, archive_name(one.worker, 1), 100, waits=True), 1, {})
        with psycopg.connect(postgres, options="-c search_path=periplus", autocommit=True) as connection:
            connection.execute("UPDATE archives SET sealed_by = %s WHERE archive_id = %s", (one.worker, foreign))
        for me in (zero, one):
            fleet.leave(me)
        assert files.lost_workers(0.0) == [one.worker]
        me = fleet.join(0, 1)
        assert me.earlier == {zero.worker, one.worker}
        assert [file.name for file in files.taken_over(me.worker)] == [archive_name(500, 1)], (
            "what another worker had to parse"
        )
        assert files.lost_workers(0.0) == []
        assert files.give_up(one.worker, 0.0, SUCCESSOR) == [], "the node has come back after the list was read"
        assert len(files.archives(one.worker)) == 1
        fleet.leave(me)
        assert files.lost_workers(0.0) == [me.worker, one.worker], "it has gone again"


def test_files_of_a_worker_whose_lease_was_not_taken_are_not_given_up(lost: Collection) -> None:
    with closing(open_catalog(lost, LostFiles)) as files, closing(rows_of(lost.database, "a")) as fleet:
        fleet.join(0, 1)
        with psycopg.connect(lost.database, options="-c search_path=periplus", autocommit=True) as connection:
            connection.execute("UPDATE leases SET ends = ends - interval '1 day'")
        assert files.lost_workers(0.0) == []
        files.give_up(1000, 0.0, SUCCESSOR)
        assert len(files.archives(1000)) == 2


def test_a_node_leaves_the_list_of_nodes_when_it_has_uploaded_its_last_file(lost: Collection) -> None:
    with (
        closing(open_catalog(lost, partial(CatalogUploadRows, worker=1000))) as rows,
        closing(open_catalog(lost, LiveState)) as live,
    ):
        rows.leave()
        assert [node.name for node in live.nodes()] == ["a"]
        assert rows.mark_stored(WaitingFile(ARCHIVE, SECOND, 50)) is Mark.STORED
        rows.leave()
        assert live.nodes() == []

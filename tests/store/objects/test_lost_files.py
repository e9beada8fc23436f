"""Pages of a node that is gone are fetched again, unless they were uploaded."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from crawl.crawling import environment, periplus, reach
from periplus.store.collection import Collection
from periplus.store.objects.lost_files import LostFiles
from periplus.store.objects.upload_rows import CatalogUploadRows
from periplus.store.objects.uploads import ARCHIVE, Mark, WaitingFile
from periplus.store.open_catalog import open_catalog
from testweb import TestWeb, mesh

pytestmark = pytest.mark.slow


@pytest.fixture
def node(postgres: str, tmp_path: Path) -> Collection:
    """A node that has crawled 30 pages, and whose object store was never there."""
    storage = f"file://{tmp_path}/missing"
    fleet = environment(fleet__database=postgres, fleet__storage=storage, fleet__upload_seconds="0.1")
    with TestWeb([mesh("a.test", 30)]) as web:
        crawled = periplus("crawl", "http://a.test/", "--home", tmp_path / "one", *reach(web), env=fleet)
    assert crawled.code == 0, crawled.err
    return Collection(tmp_path / "one", postgres, storage)


def test_files_that_were_never_uploaded_are_given_up(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        assert catalog.counters()["queued"] == 0
        urls = catalog.give_up(worker, 0.0)
        assert len(set(urls)) == 30
        assert catalog.archives(worker) == []
        assert catalog.counters()["queued"] == 30
        assert catalog.counters() == catalog.recount()
        assert not catalog.miscounted_hosts()
        assert not catalog.miscounted_outcomes()
        assert catalog.give_up(worker, 0.0) == []


def test_nothing_is_given_up_before_the_grace_time_is_over(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        assert catalog.lost_workers(3600.0) == []
        assert catalog.lost_workers(0.0) == [worker]
        assert catalog.give_up(worker, 3600.0) == []
        assert catalog.counters()["queued"] == 0


def test_a_file_that_was_uploaded_stays(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        files = catalog.archives(worker)
        with closing(open_catalog(node, partial(CatalogUploadRows, worker=worker))) as rows:
            for file in files:
                assert rows.mark_stored(WaitingFile(ARCHIVE, file.name, file.committed)) is Mark.STORED
        assert catalog.give_up(worker, 0.0) == []
        assert catalog.archives(worker) == files


def test_a_node_that_comes_back_too_late_finds_no_row(node: Collection) -> None:
    with closing(open_catalog(node, LostFiles)) as catalog:
        (worker,) = catalog.archive_workers()
        file = catalog.archives(worker)[0]
        catalog.give_up(worker, 0.0)
    with closing(open_catalog(node, partial(CatalogUploadRows, worker=worker))) as rows:
        assert rows.mark_stored(WaitingFile(ARCHIVE, file.name, file.committed)) is Mark.GIVEN_UP

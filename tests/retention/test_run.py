"""Which archive files are replaced, and which wait?"""

from __future__ import annotations

from periplus.retention.run import _chosen, _complete
from periplus.store.archive.warc_files import archive_name
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.prune_catalog import ArchivedFetch
from periplus.store.fleet_files.unstored_files import UnstoredFile


def response(archive: int, offset: int = 0, length: int = 100) -> ArchivedFetch:
    return ArchivedFetch(1.0, True, False, b"a", archive, offset, length)


def revisit(archive: int, offset: int = 0) -> ArchivedFetch:
    return ArchivedFetch(2.0, False, True, b"a", archive, offset, 10)


def test_a_version_goes_when_all_its_records_can_go() -> None:
    version = [response(1), revisit(2, 7)]
    assert _chosen([version], {1: 0.0, 2: 0.0}) == {1: {0}, 2: {7}}
    assert _chosen([version], {1: 0.0}) == {}


def test_a_file_with_little_to_remove_keeps_the_versions_that_need_it() -> None:
    version, other = [response(1), revisit(2)], [response(1, 500)]
    assert _chosen([version, other], {1: 50.0, 2: 50.0}) == {1: {500}}


def test_the_last_file_of_a_worker_is_complete_only_without_a_crawl() -> None:
    files = [
        ArchiveFile(1, archive_name(0, 1), 100, 100),
        ArchiveFile(2, archive_name(0, 2, revision=3), 100, 100),
        ArchiveFile(3, archive_name(1, 1), 100, 100),
        ArchiveFile(4, archive_name(1, 2), 100, 50),  # not all its pages are in segments
    ]
    assert [file.archive_id for file in _complete(files, is_alone=False)] == [1, 3]
    assert [file.archive_id for file in _complete(files, is_alone=True)] == [1, 2, 3]


def test_a_file_waits_until_it_and_the_segments_of_its_worker_are_uploaded() -> None:
    files = [ArchiveFile(number, archive_name(worker, 1), 9, 9) for number, worker in enumerate((7, 8, 9), 1)]
    unstored = [UnstoredFile(files[0].name, 7, "b"), UnstoredFile("pages-w08-000001.parquet", 8, "b")]
    assert [file.archive_id for file in _complete(files, unstored, is_alone=True)] == [3]

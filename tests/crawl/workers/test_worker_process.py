"""Are workers pinned to cores only where they use all cores, and do they recover only what is theirs?"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from crawl.crawling import settings_for
from periplus.crawl.assignment import Assignment
from periplus.crawl.coordination.fleet_coordination import FleetCoordination, since_boot
from periplus.crawl.coordination.shared_state import SharedState
from periplus.crawl.workers.worker_process import keep_to_one_core, recover_files
from periplus.errors import LeaseLost
from periplus.parse.page import PageParser
from periplus.parse.reader import PageReader
from periplus.store.archive.warc_files import archive_name
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.url import Canonicalizer


@pytest.mark.parametrize(
    ("cores", "workers", "kept"),
    [
        ({0, 1}, 2, [{0}, {1}]),
        ({2, 5}, 3, [{2}, {5}, {2}]),
        ({0, 1}, 1, [None]),
        ({0, 1, 2, 3}, 2, [None, None]),
        ({3}, 2, [None, None]),
    ],
)
def test_each_worker_is_pinned_to_a_core_where_workers_use_all_cores(
    cores: set[int], workers: int, kept: list[set[int] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: cores)
    for worker in range(workers):
        chosen: list[set[int]] = []
        monkeypatch.setattr(os, "sched_setaffinity", lambda _process, core, chosen=chosen: chosen.append(core))
        keep_to_one_core(worker, workers)
        assert chosen == ([kept[worker]] if kept[worker] else [])


def test_a_missing_core_or_a_system_without_affinity_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_process: int, _cores: set[int]) -> None:
        raise OSError("no such core")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    keep_to_one_core(0, 2)
    monkeypatch.delattr(os, "sched_setaffinity")
    keep_to_one_core(0, 2)


def test_a_worker_whose_lease_was_taken_recovers_nothing(tmp_path: Path, postgres: str) -> None:
    node = Collection(tmp_path, postgres, "file:///nowhere")
    asked = SimpleNamespace(collection=node, settings=settings_for(None), run_id=1, started=0.0, deaths=0)
    with (
        closing(open_catalog(node, create=True)) as catalog,
        closing(SharedState(1, None)) as shared,
        closing(FleetCoordination(FleetRows(postgres, "a", "a", 60.0, since_boot), shared, 0, 60.0)) as worker,
        closing(FleetRows(postgres, "a", "a", 60.0, since_boot)) as later,
        closing(PageReader(PageParser(Canonicalizer(), links_per_page=10))) as reader,
    ):
        archive = Written(worker.worker, archive_name(worker.worker, 1), 10, waits=True)
        catalog.commit(Batch(), archive, catalog.begin_run({}), {})
        later.join(0, 1)  # a later process of the same worker
        with pytest.raises(LeaseLost):
            recover_files(cast("Assignment", asked), worker, catalog, reader)
        assert [file.sealed for file in catalog.archives()] == [0]

"""Metrics and alerts tell what the rows of running processes say."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from periplus.config import Console
from periplus.inspector.crawl_figures import crawl_alerts, crawl_figures
from periplus.inspector.crawl_metrics import crawl_metrics
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.live_state import LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.database.postgres.fleet_rows import FleetRows
from periplus.store.database.sqlite_database import SqliteDatabase

CRAWL = {"fetched": 3, "buffered": 2, "html": 2, "pdf": 1, "other": 0, "errors": {"http_error": 1}}


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    made = create_collection(tmp_path / "home")
    Catalog(SqliteDatabase(made.catalog, create=True)).close()
    return made


def publish(collection: Collection, role: Role, number: int, figures: dict[str, object], seen: float) -> None:
    with closing(open_catalog(collection, LiveState)) as live:
        live.publish(WorkerRow("node", role, number, 1, seen, seen, "running", 0, figures))


def test_figures_of_all_live_workers_are_added(collection: Collection) -> None:
    now = time.time()
    publish(collection, Role.CRAWL, 0, CRAWL, now)
    publish(collection, Role.CRAWL, 1, CRAWL, now)
    publish(collection, Role.CRAWL, 2, CRAWL, now - 60)  # it was killed
    publish(collection, Role.INDEX, 0, {"freshness": 12.5, "documents": 40}, now)
    figures = crawl_figures(collection)
    assert figures["types"] == {"html": 4, "pdf": 2, "other": 0}
    assert figures["errors"] == {"http_error": 2}
    assert figures["workers"] == {"running": 2}
    assert (figures["freshness"], figures["index_pages"]) == (12.5, 40)
    assert 'periplus_crawl_errors_total{kind="http_error"} 2\n' in crawl_metrics(figures)


def test_without_processes_only_the_collection_is_counted(collection: Collection) -> None:
    assert crawl_metrics(crawl_figures(collection)).count("# TYPE") == 3  # pages, bytes and the queue


def test_nodes_of_a_fleet_are_counted_by_state(tmp_path: Path, postgres: str) -> None:
    collection = Collection(tmp_path, postgres)
    open_catalog(collection, create=True).close()
    with closing(FleetRows(postgres, "a", "folder", 60.0, time.monotonic)) as rows:
        rows.join(0, 1)
        figures = crawl_figures(collection)
    assert figures["nodes"] == {"live": 1, "silent": 0}
    assert figures["waiting"] == {"a": 0}


def test_alerts_come_from_the_newest_samples(collection: Collection) -> None:
    assert crawl_alerts(collection, Console()) == []
    with closing(open_catalog(collection, LiveState)) as live:
        live.add_sample(time.time(), {"pages": 1, "disk_free_bytes": 5_000_000})
    (alert,) = crawl_alerts(collection, Console())
    assert alert.kind == "disk"

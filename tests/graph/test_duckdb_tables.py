"""DuckDB stays within its memory limit, and says which setting raises it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from periplus.errors import PeriplusError
from periplus.graph.duckdb_tables import DuckDbTables
from periplus.graph.sql_tables import statements
from periplus.store.checksums import StoredFile
from store.records import error_line


def test_what_does_not_fit_into_memory_is_reported_with_the_setting_to_change(tmp_path: Path) -> None:
    path = tmp_path / "links.parquet"
    parquet.write_table(pa.table({"anchor": ["x" * 1000] * 300_000}), path)
    small = DuckDbTables(tmp_path / "scratch", memory=4 << 20, threads=1)

    def read() -> None:
        small.read("links", [StoredFile(path, path.stat().st_size, b"")], pa.schema([("anchor", pa.string())]))
        small.view("calls", "all_anchors")

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(statements(), "all_anchors", "SELECT list(anchor) AS every_one FROM links")
        read()
        assert "graph.memory_mb" in error_line(PeriplusError, lambda: list(small.stream("all_anchors")))

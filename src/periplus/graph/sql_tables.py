"""The interface of the tables of a ranking: each SQL block creates the table or stream of its name.

`DuckDbTables` runs the blocks on this machine, `periplus.spark.sql_tables.SparkTables` on a cluster. Both run the same
SQL text, and pass `tests/contracts/test_sql_tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from periplus.store.checksums import StoredFile
from periplus.store.database.sql_files import read_statements


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """The named blocks of build.sql and anchors.sql."""
    return read_statements("periplus.graph", "build.sql") | read_statements("periplus.graph", "anchors.sql")


class Tables(Protocol):
    """A temporary database for one ranking."""

    def read(self, name: str, files: Sequence[StoredFile], schema: pa.Schema) -> None:
        """Create a view of Parquet files."""
        ...

    def take(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Create a table from Arrow rows."""
        ...

    def view(self, name: str, block: str) -> None:
        """Create a view of the result of a block."""
        ...

    def make(self, name: str, block: str = "", **numbers: int) -> None:
        """Create a table from the result of a block; the block has the name of the table by default."""
        ...

    def rename(self, name: str, new: str) -> None:
        """Rename a table; an existing table of the new name is dropped."""
        ...

    def drop(self, *names: str) -> None:
        """Drop tables."""
        ...

    def size(self, name: str) -> int:
        """The number of rows of a table."""
        ...

    def stream(self, block: str, **numbers: int) -> Iterator[pa.RecordBatch]:
        """Stream the result of a block in batches."""
        ...

    def close(self) -> None:
        """Drop everything."""
        ...

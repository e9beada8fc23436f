"""Runs the SQL blocks of the link analysis in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pyarrow as pa

from periplus.graph.sql_tables import statements
from periplus.store.checksums import StoredFile
from periplus.store.duckdb_session import batches, connect, plain_errors

_ROWS_AT_ONCE = 1 << 17
_ID = pa.binary(16)


class DuckDbTables:
    """A temporary database of DuckDB for one ranking."""

    def __init__(self, scratch: Path, memory: int, threads: int) -> None:
        """*memory* is in bytes; *threads* 0 means one per core."""
        self._database = connect(scratch, memory, threads)

    def close(self) -> None:
        """Drop everything, and return the memory to the system for the next step."""
        self._database.close()
        pa.default_memory_pool().release_unused()

    def read(self, name: str, files: Sequence[StoredFile], schema: pa.Schema) -> None:
        """Create a view of Parquet files."""
        with _plain_errors():
            if files:
                rows = self._database.read_parquet([str(file.path) for file in files], union_by_name=True)
            else:
                rows = self._database.from_arrow(schema.empty_table())
            rows.project(_with_integer_ids(schema)).create_view(name)

    def take(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Create a table from Arrow rows."""
        with _plain_errors():
            self._database.from_arrow(rows).project(_with_integer_ids(rows.schema)).create(name)

    def view(self, name: str, block: str) -> None:
        """Create a view of the result of a block."""
        with _plain_errors():
            self._database.execute(f"CREATE VIEW {name} AS {statements()[block]}")

    def make(self, name: str, block: str = "", **numbers: int) -> None:
        """Create a table from the result of a block; the block has the name of the table by default."""
        with _plain_errors():
            self._database.execute(f"CREATE TABLE {name} AS {_filled(block or name, numbers)}")

    def rename(self, name: str, new: str) -> None:
        """Rename a table; an existing table of the new name is dropped."""
        self.drop(new)
        self._database.execute(f"ALTER TABLE {name} RENAME TO {new}")

    def drop(self, *names: str) -> None:
        """Drop tables."""
        for name in names:
            self._database.execute(f"DROP TABLE IF EXISTS {name}")

    def size(self, name: str) -> int:
        """The number of rows of a table."""
        with _plain_errors():
            ((rows,),) = self._database.execute(f"SELECT count(*) FROM {name}").fetchall()
        return int(rows)

    def stream(self, block: str, **numbers: int) -> Iterator[pa.RecordBatch]:
        """Stream the result of a block in batches."""
        with _plain_errors():
            yield from batches(self._database.cursor(), _filled(block, numbers), _ROWS_AT_ONCE)


def _with_integer_ids(schema: pa.Schema) -> str:
    """All columns, URL ids as 128-bit integers: comparing those takes two thirds of the time of comparing bytes."""
    return ", ".join(f'CAST("{f.name}" AS UUID) AS "{f.name}"' if f.type == _ID else f'"{f.name}"' for f in schema)


def _filled(block: str, numbers: dict[str, int]) -> str:
    text = statements()[block]
    return text.format(**numbers) if numbers else text


def _plain_errors() -> AbstractContextManager[None]:
    return plain_errors("links", "graph.memory_mb")

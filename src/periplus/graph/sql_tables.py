"""How do blocks of SQL become tables and streams, each of the name of its block?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from periplus.store.duckdb_session import batches, connect, plain_errors
from periplus.store.sql_files import read_statements

_ROWS_AT_ONCE = 1 << 17
_ID = pa.binary(16)


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """The named blocks of build.sql and anchors.sql."""
    return read_statements("periplus.graph", "build.sql") | read_statements("periplus.graph", "anchors.sql")


class Tables:
    """A database that lives as long as one build."""

    def __init__(self, scratch: Path, memory: int, threads: int) -> None:
        """*memory* in bytes; *threads* 0 means one a core."""
        self._database = connect(scratch, memory, threads)

    def close(self) -> None:
        """Drop everything, and give the memory back: what follows needs it."""
        self._database.close()
        pa.default_memory_pool().release_unused()

    def read(self, name: str, files: list[Path], schema: pa.Schema) -> None:
        """Let *name* stand for the rows of Parquet files."""
        with _plain_errors():
            if files:
                rows = self._database.read_parquet([str(file) for file in files], union_by_name=True)
            else:
                rows = self._database.from_arrow(schema.empty_table())
            rows.project(_with_numbers_for_ids(schema)).create_view(name)

    def take(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Make a table of rows computed here."""
        with _plain_errors():
            self._database.from_arrow(rows).project(_with_numbers_for_ids(rows.schema)).create(name)

    def view(self, name: str, block: str) -> None:
        """Let *name* stand for what a block selects."""
        with _plain_errors():
            self._database.execute(f"CREATE VIEW {name} AS {statements()[block]}")

    def make(self, name: str, block: str = "", **numbers: int) -> None:
        """Make the table that a block describes; the block has its name unless said otherwise."""
        with _plain_errors():
            self._database.execute(f"CREATE TABLE {name} AS {_filled(block or name, numbers)}")

    def rename(self, name: str, new: str) -> None:
        """Give a table another name; one that had it before is dropped."""
        self.drop(new)
        self._database.execute(f"ALTER TABLE {name} RENAME TO {new}")

    def drop(self, *names: str) -> None:
        """Forget tables that are not needed any more."""
        for name in names:
            self._database.execute(f"DROP TABLE IF EXISTS {name}")

    def size(self, name: str) -> int:
        """How many rows a table has."""
        with _plain_errors():
            ((rows,),) = self._database.execute(f"SELECT count(*) FROM {name}").fetchall()
        return int(rows)

    def stream(self, block: str, **numbers: int) -> Iterator[pa.RecordBatch]:
        """The rows that a block selects, some at a time."""
        with _plain_errors():
            yield from batches(self._database.cursor(), _filled(block, numbers), _ROWS_AT_ONCE)


def _with_numbers_for_ids(schema: pa.Schema) -> str:
    """All columns, identities as 128-bit integers: comparing those takes two thirds of the time of comparing bytes."""
    return ", ".join(f'CAST("{f.name}" AS UUID) AS "{f.name}"' if f.type == _ID else f'"{f.name}"' for f in schema)


def _filled(block: str, numbers: dict[str, int]) -> str:
    text = statements()[block]
    return text.format(**numbers) if numbers else text


def _plain_errors() -> AbstractContextManager[None]:
    return plain_errors("links", "graph.memory_mb")

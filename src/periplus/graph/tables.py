"""How is DuckDB asked, within the memory it was given?

A block of SQL makes a table or a stream of its own name. What does not fit into memory goes to a scratch folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import resources
from pathlib import Path

import duckdb
import pyarrow as pa

from periplus.errors import DamagedFile, DiskFull, PeriplusError

_BLOCK = re.compile(r"^-- name: (\w+)\n([^;]*);$", re.MULTILINE)
_ROWS_AT_ONCE = 1 << 17
_ID = pa.binary(16)


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """The named blocks of build.sql and anchors.sql."""
    folder = resources.files("periplus.graph")
    texts = [folder.joinpath(name).read_text(encoding="utf-8") for name in ("build.sql", "anchors.sql")]
    return dict(block for text in texts for block in _BLOCK.findall(text))


class Tables:
    """A database that lives as long as one build."""

    def __init__(self, scratch: Path, memory: int, threads: int) -> None:
        """*memory* in bytes; *threads* 0 means one a core."""
        options: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{memory}B",
            "temp_directory": str(scratch),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "threads": threads or len(os.sched_getaffinity(0)),
        }
        self._database = duckdb.connect(":memory:", config=options)

    def close(self) -> None:
        """Drop everything, and give the memory back: what follows needs it."""
        self._database.close()
        pa.default_memory_pool().release_unused()

    def read(self, name: str, files: list[Path], schema: pa.Schema) -> None:
        """Let *name* stand for the rows of Parquet files."""
        with _plain_errors():
            if files:
                rows = self._database.read_parquet([str(file) for file in files])
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
            yield from self._database.cursor().sql(_filled(block, numbers)).to_arrow_reader(_ROWS_AT_ONCE)


def _with_numbers_for_ids(schema: pa.Schema) -> str:
    """All columns, identities as 128-bit integers: comparing those takes two thirds of the time of comparing bytes."""
    return ", ".join(f'CAST("{f.name}" AS UUID) AS "{f.name}"' if f.type == _ID else f'"{f.name}"' for f in schema)


def _filled(block: str, numbers: dict[str, int]) -> str:
    text = statements()[block]
    return text.format(**numbers) if numbers else text


@contextmanager
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise PeriplusError(
            "the links do not fit into the memory that was given", str(error), "Raise graph.memory_mb in periplus.toml."
        ) from error
    except duckdb.IOException as error:
        if "No space left" in str(error):
            raise DiskFull("no room left to sort the links", str(error), "Free some space and try again.") from error
        raise _unreadable(error) from error
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.SerializationException) as error:
        raise _unreadable(error) from error


def _unreadable(error: duckdb.Error) -> DamagedFile:
    return DamagedFile("a segment cannot be read", str(error), "`periplus verify` names every damaged file.")

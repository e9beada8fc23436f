"""Opens DuckDB with limited memory and threads, streams query results, and translates its errors.

Data that does not fit into memory goes to a scratch folder. Extensions are disabled, so DuckDB never uses the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pyarrow as pa

from periplus.errors import DamagedFile, DiskFull, PeriplusError


def connect(scratch: Path, memory: int, threads: int) -> duckdb.DuckDBPyConnection:
    """Open an in-memory database; *memory* is its limit in bytes, *threads* 0 means one per core."""
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory}B",
        "temp_directory": str(scratch),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": threads or len(os.sched_getaffinity(0)),
    }
    database = duckdb.connect(":memory:", config=options)
    database.execute("SET enable_progress_bar = false")  # it goes to stdout, where --json goes
    return database


def batches(database: duckdb.DuckDBPyConnection, query: str, rows: int) -> Iterator[pa.RecordBatch]:
    """Stream the result of *query* in batches of *rows*.

    The query runs in another thread: Python handles signals in the main thread, but not while it waits for DuckDB.
    """
    with ThreadPoolExecutor(1, "join") as thread:
        try:
            reader = thread.submit(lambda: database.sql(query).to_arrow_reader(rows)).result()
            while (batch := thread.submit(next, reader, None).result()) is not None:
                yield batch
        except BaseException:
            with suppress(duckdb.ConnectionException):  # it is closed already
                database.interrupt()
            raise


@contextmanager
def plain_errors(rows: str, setting: str) -> Iterator[None]:
    """Raise our own errors for those of a join of *rows*; *setting* is the one that raises the memory limit."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise PeriplusError(
            f"not enough memory to join the {rows}", str(error), f"Raise {setting} in periplus.toml."
        ) from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if "No space left" in str(error):
            raise DiskFull(
                f"no disk space left to join the {rows}", str(error), "Free some space and try again."
            ) from error
        raise DamagedFile("a segment cannot be read", str(error)) from error

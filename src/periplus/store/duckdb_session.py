"""How is DuckDB asked, within the memory it was given?

What does not fit into memory goes to a scratch folder. It never looks for extensions, so it never asks the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from periplus.errors import DamagedFile, DiskFull, PeriplusError


def connect(scratch: Path, memory: int, threads: int) -> duckdb.DuckDBPyConnection:
    """A database that lives in *memory* (bytes) as long as the connection; *threads* 0 means one a core."""
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory}B",
        "temp_directory": str(scratch),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": threads or len(os.sched_getaffinity(0)),
    }
    return duckdb.connect(":memory:", config=options)


def batches(database: duckdb.DuckDBPyConnection, query: str, rows: int) -> Iterator[pa.RecordBatch]:
    """What *query* selects, *rows* at a time.

    A thread runs the query: Python answers signals in the main thread only, and not while that one waits for DuckDB.
    """
    with ThreadPoolExecutor(1, "join") as thread:
        try:
            reader = thread.submit(lambda: database.sql(query).to_arrow_reader(rows)).result()
            while (batch := thread.submit(next, reader, None).result()) is not None:
                yield batch
        except BaseException:
            database.interrupt()
            raise


@contextmanager
def plain_errors(rows: str, setting: str) -> Iterator[None]:
    """What goes wrong while *rows* are joined, in our words; *setting* is the one that gives more memory."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise PeriplusError(
            f"the {rows} do not fit into the memory that was given", str(error), f"Raise {setting} in periplus.toml."
        ) from error
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        if "No space left" in str(error):
            raise DiskFull(f"no room left to join the {rows}", str(error), "Free some space and try again.") from error
        raise DamagedFile(
            "a segment cannot be read", str(error), "`periplus verify` names every damaged file."
        ) from error

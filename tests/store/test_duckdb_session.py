"""DuckDB stays within its limits, and errors are reported in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from periplus.errors import DamagedFile, DiskFull, PeriplusError
from periplus.signals import Stopped, stoppable
from periplus.store.duckdb_session import batches, connect, plain_errors
from store.records import error_line

ENDLESS = "SELECT sum(a.range * b.range % 7) FROM range(10_000_000) a, range(10_000_000) b"
MANY = "SELECT i, repeat('x', 100) AS text FROM range(400_000) numbers(i)"


def setting(database: duckdb.DuckDBPyConnection, name: str) -> str:
    ((value,),) = database.execute(f"SELECT current_setting('{name}')").fetchall()
    return str(value)


def test_memory_threads_and_scratch_folder_are_those_that_were_given(tmp_path: Path) -> None:
    with connect(tmp_path, 64 << 20, 1) as database:
        assert setting(database, "memory_limit") == "64.0 MiB"
        assert setting(database, "threads") == "1"
        assert setting(database, "temp_directory") == str(tmp_path)


def test_without_a_number_there_is_a_thread_for_each_core(tmp_path: Path) -> None:
    with connect(tmp_path, 64 << 20, 0) as database:
        assert setting(database, "threads") == str(len(os.sched_getaffinity(0)))


def test_nothing_is_ever_fetched_from_the_network(tmp_path: Path) -> None:
    with connect(tmp_path, 64 << 20, 1) as database:
        assert setting(database, "autoinstall_known_extensions") == "False"
        assert setting(database, "autoload_known_extensions") == "False"


def test_what_does_not_fit_into_memory_goes_to_the_scratch_folder(tmp_path: Path) -> None:
    with connect(tmp_path, 16 << 20, 1) as database:
        database.execute(f"CREATE TABLE many AS {MANY}")
        assert any(tmp_path.iterdir())
        assert database.execute("SELECT count(*) FROM many").fetchall() == [(400_000,)]


def joining(action: Callable[[], object]) -> Callable[[], None]:
    def joined() -> None:
        with plain_errors("pages", "index.memory_mb"):
            action()

    return joined


def test_too_little_memory_is_reported_with_the_setting_to_change(tmp_path: Path) -> None:
    with connect(tmp_path, 8 << 20, 1) as database:
        line = error_line(
            PeriplusError, joining(lambda: database.execute(f"SELECT list(text) FROM ({MANY})").fetchall())
        )
    assert "not enough memory to join the pages" in line
    assert "Raise index.memory_mb" in line


def raising(error: Exception) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


@pytest.mark.parametrize("error", [duckdb.IOException, OSError, pa.ArrowException])
def test_a_full_disk_is_reported(error: type[Exception]) -> None:
    full = raising(error("Could not write all bytes: No space left on device"))
    assert "no disk space left to join the pages" in error_line(DiskFull, joining(full), exit_code=3)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "pages.parquet").write_bytes(b"not Parquet")
    with connect(tmp_path, 64 << 20, 1) as database:
        line = error_line(DamagedFile, joining(lambda: database.read_parquet(str(tmp_path / "pages.parquet"))))
    assert "pages.parquet" in line
    assert "Run `periplus repair`" in line


def test_our_own_bugs_are_not_reported_as_damage() -> None:
    with pytest.raises(KeyError):
        joining(raising(KeyError("column")))()


def execute(database: duckdb.DuckDBPyConnection) -> None:
    database.execute(ENDLESS).fetchall()


def read(database: duckdb.DuckDBPyConnection) -> None:
    for _ in batches(database, ENDLESS, 1000):
        pass


@pytest.mark.parametrize("ask", [execute, read])
def test_a_join_that_takes_for_ever_ends_with_a_signal(
    tmp_path: Path, ask: Callable[[duckdb.DuckDBPyConnection], None]
) -> None:
    signalling = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
    with connect(tmp_path, 64 << 20, 1) as database:
        signalling.start()
        with pytest.raises(Stopped), stoppable():
            ask(database)


def test_rows_come_in_order_and_errors_as_they_are(tmp_path: Path) -> None:
    with connect(tmp_path, 64 << 20, 1) as database:
        found = list(batches(database, "SELECT * FROM range(5000) ORDER BY 1", 1000))
        assert [row for batch in found for row in batch.column(0).to_pylist()] == list(range(5000))
        with pytest.raises(duckdb.CatalogException):
            list(batches(database, "SELECT * FROM nothing", 1000))


def test_no_progress_bar_is_mixed_into_the_output_of_a_program(tmp_path: Path) -> None:
    """DuckDB turns it on in a program that is no file, such as a process that `multiprocessing` spawns."""
    program = (
        "import pathlib, sys; from periplus.store.duckdb_session import connect;"
        "print(connect(pathlib.Path(sys.argv[1]), 64 << 20, 1).sql(sys.argv[2]).fetchall())"
    )
    command = [sys.executable, "-c", program, str(tmp_path), "SELECT current_setting('enable_progress_bar')"]
    assert "False" in subprocess.check_output(command, text=True)

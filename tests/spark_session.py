"""One Spark session on two threads of this machine for all tests of a test process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.config import Spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Two processes with a session each would take twice the time to start: all tests of Spark run in one.
on_spark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]
# A short life: compiling little and collecting garbage with one thread takes less time.
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
OPTIONS = [
    "spark.ui.port=0",
    "spark.sql.shuffle.partitions=2",
    f"spark.driver.extraJavaOptions={SHORT_LIVED}",
    f"spark.executor.extraJavaOptions={SHORT_LIVED}",
]
SETTINGS = Spark(master="local[2,2]", memory_mb=1024, options=OPTIONS)  # a task may fail once
CLUSTER = Spark(master="local-cluster[2,1,1024]", memory_mb=1024, options=OPTIONS)  # two executors


def require_spark() -> None:
    """Skip the test where there is no Java or no pyspark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session."""
    require_spark()
    from periplus.spark.session import open_session

    with open_session(SETTINGS) as session:
        yield session


def executors(process: int) -> Iterator[int]:
    """The processes of executors that a process has started, directly or not."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == process:
            if b"CoarseGrainedExecutorBackend" in command:
                yield int(entry.name)
            else:
                yield from executors(int(entry.name))

"""Opens a session of Apache Spark, on this machine or on a cluster.

Tasks run in Python processes of the executors. With a local master these are processes of this machine, and everything
listens on the loopback address only. The executors of a cluster need the same release of periplus. They read the files
of the collection in a folder of the same path, or from the object store. Hadoop's own S3 client is not used.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL
from urllib.parse import urlsplit

from periplus.config import Spark
from periplus.errors import SparkFailure, UsageError

try:
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession as SparkSession
except ModuleNotFoundError as missing:  # pragma: no cover
    raise SparkFailure(
        "the Python package pyspark is not installed", hint="Install Periplus with it: pip install 'periplus[spark]'."
    ) from missing

from periplus.spark.failures import plain_errors

_ADDRESS = r"[^\s,/]+:[0-9]+"
_MASTER = re.compile(rf"local(-cluster)?(\[[^\]]+\])?|spark://{_ADDRESS}(,{_ADDRESS})*|yarn|k8s://\S+")
_CONNECT_SECONDS = 10.0
_EXECUTOR_SECONDS = 120.0  # until the first executor of a cluster must have registered
_LOOPBACK = "127.0.0.1"


@contextmanager
def open_session(settings: Spark, master: str = "") -> Iterator[SparkSession]:
    """Open a session on *master* or, without one, on that of the settings; it ends with the block."""
    master = master or settings.master
    _require_java()
    _require_master(master)
    conf = _configuration(settings, master)
    if is_local(master):  # tasks of a cluster run in the interpreter that PYSPARK_PYTHON names there
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with plain_errors():
        session = SparkSession(_context(conf))
    try:
        if not is_local(master):
            _wait_for_executor(session, master)
        yield session
    finally:
        session.stop()


def ui_address(session: SparkSession) -> str:
    """The address of the Spark UI, which shows the progress of jobs."""
    return session.sparkContext.uiWebUrl or "not available"


def is_local(master: str) -> bool:
    """Whether a master runs its executors on this machine."""
    return master.startswith("local")


def _configuration(settings: Spark, master: str) -> SparkConf:
    """The options of Spark; those of the settings come last, so they win."""
    conf = SparkConf().setMaster(master).setAppName("periplus")
    conf.set("spark.driver.memory", f"{settings.memory_mb}m")
    conf.set("spark.driver.maxResultSize", "0")  # results are streamed to files
    conf.set("spark.ui.showConsoleProgress", "false")
    conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(1 << 16))
    conf.set("spark.sql.session.timeZone", "UTC")
    conf.set("spark.sql.ansi.enabled", "true")  # an overflow is an error, as in DuckDB
    conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
    if is_local(master):
        conf.set("spark.driver.bindAddress", _LOOPBACK).set("spark.driver.host", _LOOPBACK)
    for option in settings.options:
        name, _, value = option.partition("=")
        conf.set(name, value)
    return conf


def _context(conf: SparkConf) -> SparkContext:
    """Start the driver. Its Java process is started once per process, and lives as long."""
    if SparkContext._gateway is None:
        _start_java(conf)
    context = SparkContext(conf=conf, gateway=SparkContext._gateway)
    context.setLogLevel("OFF" if is_local(str(conf.get("spark.master"))) else "ERROR")
    return context


def _start_java(conf: SparkConf) -> None:
    """Start the Java process; its log is shown only when it does not start."""
    if is_local(str(conf.get("spark.master"))):
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)  # also for the UI, which needs no login
    with tempfile.TemporaryFile() as log:
        try:
            SparkContext._gateway = launch_gateway(  # type: ignore[no-untyped-call]
                conf, {"stdout": DEVNULL, "stderr": log}
            )
        except PySparkException as error:
            log.seek(0)
            lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
            reason, hint = lines[-1] if lines else str(error), "Check the settings spark.memory_mb and spark.options."
            raise SparkFailure("Java could not start Spark", reason, hint) from error
        SparkContext._jvm = SparkContext._gateway.jvm


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME", "")
    if not shutil.which(Path(home, "bin", "java") if home else "java"):
        raise SparkFailure(
            "Spark needs Java, and none was found",
            f"JAVA_HOME is {home}" if home else "there is no program java in PATH",
            "Install Java 17 (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME.",
        )


def _require_master(master: str) -> None:
    """Check the URL, and that a standalone master answers; Spark itself would try for minutes."""
    if not _MASTER.fullmatch(master):
        hint = "Write it like local[4], spark://host:7077, yarn or k8s://https://host:6443."
        raise UsageError(f"{master!r} is not the URL of a Spark master", hint=hint)
    if not master.startswith("spark://"):
        return
    failures = []
    for address in master.removeprefix("spark://").split(","):  # a master and those that stand by
        try:
            place = urlsplit(f"spark://{address}")
            socket.create_connection((place.hostname or "", place.port or 7077), _CONNECT_SECONDS).close()
            return
        except (OSError, ValueError) as error:
            failures.append(f"{address}: {error}")
    raise SparkFailure(
        f"the Spark master {master} cannot be reached", "; ".join(failures), "Check the address given with --master."
    )


def _wait_for_executor(session: SparkSession, master: str) -> None:
    """Wait until a task can run: without executors, a job would wait for ever."""
    until = time.monotonic() + _EXECUTOR_SECONDS
    status = session.sparkContext._jsc.sc()
    while status.getExecutorMemoryStatus().size() < 2:  # the driver is one of them
        if time.monotonic() > until:
            raise SparkFailure(
                f"no executor of {master} has started within {_EXECUTOR_SECONDS:.0f} s",
                hint="See the page of the master: are there workers with enough free memory and cores?",
            )
        time.sleep(0.1)

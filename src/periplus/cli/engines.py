"""The options --engine and --master, and the Spark session that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from periplus.config import Spark
from periplus.errors import UsageError
from periplus.store.task_runner import TaskRunner

if TYPE_CHECKING:
    from periplus.spark.session import SparkSession  # needs an extra


class EngineName(StrEnum):
    """Where a job runs."""

    LOCAL = "local"
    SPARK = "spark"


Engine = Annotated[
    EngineName,
    typer.Option("--engine", help="Run the job on this machine, or on Apache Spark.", show_default=True),
]
Master = Annotated[
    str,
    typer.Option(
        "--master", metavar="URL", help="Spark master for --engine spark, such as spark://host:7077. [spark.master]"
    ),
]


@contextmanager
def chosen_session(engine: EngineName, master: str, settings: Spark) -> Iterator[SparkSession | None]:
    """The Spark session for a job, or None when it runs on this machine; shows the address of the Spark UI."""
    if engine is EngineName.LOCAL:
        if master:
            raise UsageError("--master is given without --engine spark", hint="Add --engine spark.")
        yield None
        return
    from periplus.spark.session import open_session, ui_address  # noqa: PLC0415  # needs an extra

    typer.echo("starting Spark", err=True)
    with open_session(settings, master) as session:
        typer.echo(f"Spark UI: {ui_address(session)}", err=True)
        yield session


def runner_of(session: SparkSession | None) -> TaskRunner | None:
    """What runs the tasks of a job: the executors of a session, or None for this machine."""
    if session is None:
        return None
    from periplus.spark.tasks import SparkRunner  # noqa: PLC0415  # needs an extra

    return SparkRunner(session)

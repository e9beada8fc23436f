"""Defines the settings of Apache Spark (`--engine spark`)."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from periplus.config.value_types import Section


def _option(text: str) -> str:
    name, equals, _ = text.partition("=")
    if not (name.startswith("spark.") and equals):
        raise ValueError("must be like spark.executor.memory=4g")
    return text


class Spark(Section):
    """The cluster on which `--engine spark` runs jobs."""

    master: str = Field(
        default="local[*]",
        min_length=1,
        description="Address of the Spark master, such as `spark://host:7077`; `local[4]`: four threads of this "
        "machine; `local[*]`: one per core.",
    )
    memory_mb: int = Field(
        default=2048,
        ge=512,
        description="Memory of the Spark driver in megabytes; with a local master, of the whole job.",
    )
    options: list[Annotated[str, AfterValidator(_option)]] = Field(
        default=[], description="Further options of Spark, such as `spark.executor.memory=4g`."
    )

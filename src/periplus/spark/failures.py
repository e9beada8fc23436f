"""Translates the errors of Spark into ours: one line, without the stack traces of Java and Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from periplus import errors
from periplus.errors import PeriplusError, SparkFailure

_OURS = re.compile(r"^periplus\.errors\.(\w+): (.*)$", re.MULTILINE)
_PYTHON = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Exit|Interrupt)): (.*)$", re.MULTILINE)
_JAVA = re.compile(r"(?:Caused by: )?(?:[\w.$]+\.)?\w*(?:Exception|Error): ([^\n]+)")
_NO_PACKAGE = re.compile(r"No module named '(?:periplus|pyarrow|numpy|pandas)")


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise our own errors for those of Spark."""
    try:
        yield
    except Py4JNetworkError as error:
        raise SparkFailure("the driver of Spark has died", str(error), "Raise spark.memory_mb.") from error
    except (PySparkException, Py4JError) as error:
        raise translated(_message(error)) from error


def translated(text: str) -> PeriplusError:
    """The error that the message of Spark is about."""
    if found := _OURS.search(text):
        kind = getattr(errors, found[1], SparkFailure)
        return kind(found[2], hint="") if issubclass(kind, PeriplusError) else SparkFailure(found[2])
    if _NO_PACKAGE.search(text):
        return SparkFailure(
            "the executors of Spark cannot run periplus",
            "the package is not installed there",
            "Install the same release on every node, and set PYSPARK_PYTHON to its interpreter.",
        )
    if "OutOfMemoryError" in text:
        return SparkFailure(
            "Spark ran out of memory", _reason(text), "Raise spark.memory_mb, or spark.executor.memory."
        )
    hint = "The logs of the executors say more; the page of the Spark master has links to them."
    return SparkFailure("a Spark job failed", _reason(text), hint)


def _message(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return f"{error}\n{java.toString()}" if java is not None else str(error)


def _reason(text: str) -> str:
    """The line of a message that says most: the Python exception of a task, or else the first of Java."""
    if found := list(_PYTHON.finditer(text)):
        return f"{found[-1][1]}: {found[-1][2]}"[:300]
    if java := _JAVA.search(text):
        return java[1][:300]
    return text.strip().split("\n")[0][:300]

"""The options --engine and --master."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from periplus.cli.engines import EngineName, chosen_session
from periplus.config import Spark
from periplus.errors import SparkFailure, UsageError
from store.records import error_line


def _open(engine: EngineName, master: str = "") -> None:
    with chosen_session(engine, master, Spark()) as session:
        assert session is None


def test_a_local_job_needs_no_session() -> None:
    _open(EngineName.LOCAL)


def test_a_master_without_spark_is_refused() -> None:
    assert "--engine spark" in error_line(UsageError, lambda: _open(EngineName.LOCAL, "spark://x"), exit_code=2)


def test_without_pyspark_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without_pyspark(name: str, *args: Any) -> Any:
        if name.partition(".")[0] in {"pyspark", "py4j"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found(name, *args)

    for name in [name for name in sys.modules if name.startswith("periplus.spark.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_pyspark)
    assert "pip install 'periplus[spark]'" in error_line(SparkFailure, lambda: _open(EngineName.SPARK))

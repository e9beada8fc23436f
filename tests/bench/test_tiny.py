"""Every bench runs, and prints the figures that bench/README.md describes."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from spark_session import SHORT_LIVED, on_spark, require_spark

BENCH = Path(__file__).resolve().parents[2] / "bench"
SCRIPTS = sorted(path.name for path in BENCH.glob("*.py"))
SECONDS = 120  # a tiny run takes 1 to 5 seconds of CPU time
SPARK_SECONDS = 600  # 30 seconds of CPU time, because Java compiles everything


def documented(script: str) -> set[str]:
    """The keys in the tables `| key | meaning |` of a bench's section; `*.key` is a key inside every object."""
    section = (BENCH / "README.md").read_text().partition(f"\n## {script}: ")[2].partition("\n## ")[0]
    tables = re.findall(r"^\| key \| meaning \|\n\|[-|]+\|\n((?:\|.*\n)+)", section, re.MULTILINE)
    cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
    return {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}


def keys(result: dict[str, Any], *, nested: bool) -> set[str]:
    inner = {f"*.{key}" for value in result.values() if isinstance(value, dict) for key in value}
    return set(result) | (inner if nested else set())


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from numbers(one)
    elif isinstance(value, int | float):
        yield value


def refuse(constant: str) -> NoReturn:
    pytest.fail(f"JSON has no {constant}")


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", [pytest.param(script, marks=on_spark if script == "spark.py" else []) for script in SCRIPTS]
)
def test_a_bench_prints_the_figures_that_its_readme_describes(script: str, tmp_path: Path) -> None:
    seconds, command = SECONDS, [sys.executable, str(BENCH / script), "--tiny", "--json"]
    if script == "spark.py":
        require_spark()
        seconds = SPARK_SECONDS
    env = os.environ | {"JAVA_TOOL_OPTIONS": SHORT_LIVED}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, cwd=tmp_path, env=env)
    assert ran.returncode == 0, ran.stderr
    result = json.loads(ran.stdout, parse_constant=refuse)
    expected = documented(script)
    assert expected, f"bench/README.md has no section '## {script}: ...' with a table of keys"
    assert keys(result, nested=any(key.startswith("*.") for key in expected)) == expected
    assert result["bench"] == script.removesuffix(".py")
    found = list(numbers(result))
    assert found
    assert all(math.isfinite(number) for number in found)

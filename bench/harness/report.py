"""Prints the result of a bench."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.errors import BenchError

Result = dict[str, Any]


def lines(result: Result) -> str:
    """One line per figure."""
    return "\n".join(f"{name:28}{value}" for name, value in result.items())


def report(
    options: argparse.Namespace, bench: Callable[[argparse.Namespace], Result], table: Callable[[Result], str] = lines
) -> int:
    """Runs a bench, prints one JSON object or a table depending on *options*, and returns the exit code."""
    try:
        result = bench(options)
    except BenchError as problem:
        print(f"bench/{Path(sys.argv[0]).name}: {problem}", file=sys.stderr)
        return 1
    print(json.dumps(result) if options.json else table(result))
    return 0

"""Runs a program of the bench beside it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchError


@dataclass(frozen=True)
class Program:
    """A running program."""

    pid: int
    first_line: str  # with which it says that it is ready

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(command: Sequence[str]) -> Iterator[Program]:
    """Runs the program until the block ends; waits until it has written its first line."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise BenchError(f"{command[1]} did not start")
        yield Program(process.pid, line)
    finally:
        process.kill()
        process.wait()

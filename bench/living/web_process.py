"""Runs the server of a made web in a process of its own, and reads its log of requests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchError
from living.made_web import MadeWeb


@dataclass(frozen=True)
class WebServer:
    """A running server of a made web."""

    port: int
    log: Path

    def requests(self, start: int = 0) -> tuple[list[tuple[float, str]], int]:
        """Time and URL of the pages that were requested after a position of the log; and the position now."""
        with self.log.open("rb") as file:
            file.seek(start)
            lines = file.read().rpartition(b"\n")[0]
        cells = [line.decode().split("\t") for line in lines.splitlines()]
        found = [(float(at), f"http://{host}{path}") for at, host, path, status in cells if status == "200"]
        return found, start + len(lines) + bool(lines)

    def size(self) -> int:
        """The position at the end of the log."""
        return self.log.stat().st_size


@contextmanager
def served(web: MadeWeb, folder: Path) -> Iterator[WebServer]:
    """Serves the web until the block ends."""
    log, program = folder / "requests.log", Path(__file__).with_name("made_server.py")
    command = [sys.executable, str(program), str(web.hosts), str(web.pages), str(log)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise BenchError("the server of the made web did not start")
        yield WebServer(int(line), log)
    finally:
        process.kill()
        process.wait()
